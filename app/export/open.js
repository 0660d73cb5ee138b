"use strict";
(function () {
  var button = document.getElementById("open"), open = true;
  button.hidden = false;
  button.addEventListener("click", function () {
    document.querySelectorAll("details").forEach(function (d) { d.open = open; });
    open = !open;
    button.textContent = open ? "Open everything" : "Close everything";
  });
})();
