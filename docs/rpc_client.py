#!/usr/bin/env python3
"""A client for `octavo --mode rpc` (rpc.md) in the standard library of Python 3.8 or newer.

    with Octavo() as octavo:
        octavo.start(["octavo", "--mode", "rpc"])
        octavo.call("prompt", message="What is this project?")
        for event in octavo.events():
            print(event["type"])
            if event["type"] == "agent_settled":
                break

As a program it runs one prompt in this folder and prints the answer: rpc_client.py "What is this project?"
"""

import json
import queue
import subprocess
import sys
import threading


class Refused(Exception):
    """A request that octavo answered with an error; code is one of those in rpc.md."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Octavo:
    """One octavo process. call may be used from any thread."""

    def __init__(self, on_event=None):
        """on_event, where given, gets each event in the thread that reads, instead of events()."""
        self._events = queue.Queue()
        self._on_event = on_event or self._events.put
        self._answers = {}  # by id: a queue that takes one answer
        self._lock = threading.Lock()
        self._last = 0
        self._ended = False
        self.process = None

    def start(self, argv, **options):
        """Starts octavo. options go to subprocess.Popen, such as cwd and env."""
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def send(self, command, /, **fields):
        """Sends a request without waiting; wait() takes what it returns."""
        answer = queue.Queue(1)
        with self._lock:
            if self._ended:
                raise EOFError("octavo has ended")
            self._last += 1
            request = {**fields, "type": command, "id": self._last}
            self._answers[self._last] = answer
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        return answer

    def wait(self, answer, timeout=None):
        """Returns the data of an answer, None where there is none. Raises Refused, or EOFError when octavo ended before."""
        response = answer.get(timeout=timeout)
        if response is None:
            raise EOFError("octavo ended without an answer")
        if not response["success"]:
            raise Refused(response["error"]["code"], response["error"]["message"])
        return response.get("data")

    def call(self, command, /, timeout=None, **fields):
        """Sends a request and waits for its answer, whatever events come meanwhile."""
        return self.wait(self.send(command, **fields), timeout)

    def events(self, timeout=None):
        """Yields events as they come, until octavo has ended."""
        while True:
            event = self._events.get(timeout=timeout)
            if event is None:
                return
            yield event

    def close(self, timeout=60):
        """Closes octavo's input, which ends it: what runs is interrupted and stored. Returns the exit code."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended already
        code = self.process.wait(timeout)
        self._reader.join(timeout)
        self.process.stdout.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.close()

    def _read(self):
        # A thread of its own reads all the time, so that octavo never waits for this program.
        for line in self.process.stdout:  # bytes are split at line feeds only
            record = json.loads(line)
            if record["type"] != "response":
                self._on_event(record)
            elif record.get("id") in self._answers:
                self._answers.pop(record["id"]).put(record)
        with self._lock:
            self._ended = True
        for answer in self._answers.values():
            answer.put(None)
        self._events.put(None)


def main(prompt):
    with Octavo() as octavo:
        octavo.start(["octavo", "--mode", "rpc"])
        octavo.call("prompt", message=prompt)
        for event in octavo.events():
            if event["type"] == "ask":  # nobody is here to decide
                octavo.call("answer", ask=event["id"])
            elif event["type"] == "agent_settled":
                print(octavo.call("get_last_assistant_text")["text"] or "")
                return 0 if event["outcome"] == "completed" else event.get("error", event["outcome"])
    return "octavo ended early"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1]))
    except Refused as why:
        sys.exit(str(why))
