"""A Talaria worker in Python. `make` makes ./stubs for PYTHONPATH; docs/workers.md says more."""

import asyncio
import base64
import json
import os
import platform
import signal
import sys

import grpc
from talaria.owner.v1 import execution_store_service_pb2 as store, owner_service_pb2 as owner
from talaria.owner.v1.execution_store_service_pb2_grpc import ExecutionStoreServiceStub
from talaria.owner.v1.owner_service_pb2_grpc import OwnerServiceStub
from talaria.types.v1 import event_pb2 as event, prompt_pb2 as prompt

# A store call whose answer is lost is repeated as it is, which the owner knows.
RETRY = """{"methodConfig": [{"name": [{"service": "talaria.owner.v1.ExecutionStoreService"}],
    "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s",
                    "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}"""


class Worker:
    """The protocol, and with `answer` what a turn does. Stop cancels that."""

    def __init__(self):
        self.frames, self.prompts = asyncio.Queue(), {}
        self.sent = [0]  # How many bytes all frames up to each sequence have.
        self.acknowledged = 0
        self.changed, self.ready = asyncio.Event(), asyncio.Event()
        self.boot = self.finish = self.exit_code = None

    async def serve(self, token):
        """Attaches and takes the owner's frames until the stream ends, and the process with it."""
        asyncio.get_running_loop().add_reader(0, lambda: os.read(0, 64) or self.owner_gone())
        address = f"unix:{os.environ['TALARIA_OWNER_SOCKET']}"
        channel = grpc.aio.insecure_channel(address, options=[("grpc.service_config", RETRY)])
        self.store = ExecutionStoreServiceStub(channel)
        with open("/proc/self/stat") as stat:
            process = {"pid": os.getpid(), "birth": int(stat.read().rpartition(")")[2].split()[19])}
        runtime = f"python {platform.python_version()}"
        build = {"name": "python-worker-example", "version": "1.0.0", "runtime": runtime}
        proof = {"token": token, "process": process}
        self.post(hello={**proof, "build": build, "protocol": {"min": 1, "max": 1}})
        try:
            async for response in OwnerServiceStub(channel).Attach(self.requests()):
                self.take(response, response.WhichOneof("frame"))
        finally:
            os._exit(self.owner_gone() if self.exit_code is None else self.exit_code)

    def owner_gone(self):
        """Nobody is left to work for: ends the process, and what it has left in its group."""
        os.killpg(0, signal.SIGKILL)

    async def requests(self):
        while self.exit_code is None:
            frame = await self.frames.get()
            self.exit_code = {"finished": 0, "error": 70}.get(frame.WhichOneof("frame"))
            yield frame

    def post(self, **frame):
        """Numbers a frame and sends it, whatever is unacknowledged."""
        request = owner.AttachRequest(sequence=len(self.sent), **frame)
        self.sent.append(self.sent[-1] + request.ByteSize())
        self.frames.put_nowait(request)

    async def send(self, **frame):
        """Sends a frame once the owner's bound on unacknowledged bytes leaves room for it."""
        bound = (self.boot.budgets.outstanding_bytes or 1_048_576) - 4_096  # For heartbeats.
        wanted = self.sent[-1] + min(0, owner.AttachRequest(**frame).ByteSize() - bound)
        while self.sent[self.acknowledged] < wanted:
            self.post(heartbeat=owner.Heartbeat())  # Is acknowledged at once, with all before it.
            self.changed.clear()
            await self.changed.wait()
        self.post(**frame)

    def take(self, response, kind):
        frame = kind and getattr(response, kind)
        if kind == "ack" and frame.sequence < len(self.sent):
            self.acknowledged = frame.sequence
            self.changed.set()
        elif kind == "dry_run" and not self.boot:
            self.post(dry_run_done={"round": frame.round, "payload": frame.payload})
        elif kind == "bootstrap" and not self.boot:
            self.boot = frame
            self.turn = asyncio.create_task(self.answer())
            self.others = asyncio.create_task(self.run()), asyncio.create_task(self.beat())
        elif kind == "stop" and self.boot:
            self.turn.cancel()
        elif kind == "finish" and self.finish:
            self.finish.set()
        elif hasattr(frame, "prompt_id") and self.boot:
            self.prompts.pop(frame.prompt_id, asyncio.Future()).set_result(frame)
        elif kind not in ("close", "draining"):
            self.post(error={"reason": "REASON_FRAME_OUT_OF_PHASE", "message": f"Not now: {kind}"})

    def budget(self, name, default):
        given, budgets = self.boot.budgets.HasField(name), self.boot.budgets
        return getattr(budgets, name).ToTimedelta().total_seconds() if given else default

    async def beat(self):
        while True:
            await asyncio.sleep(self.budget("heartbeat", 10))
            self.post(heartbeat=owner.Heartbeat())

    async def run(self):
        """Takes the assignment from Adopt to its end."""
        boot, seconds = self.boot, self.budget("store_call", 20)
        try:
            secret, name = boot.assignment_secret, boot.execution_id
            if boot.protocol != 1 or len(secret) != 32 or not name.startswith("exe_"):
                raise ValueError("The assignment breaks the contract.")
            fence = {"execution_id": name, "epoch": boot.epoch, "generation": boot.generation}
            adopt = store.AdoptRequest(fence=fence, assignment_secret=secret, pid=os.getpid())
            last = (await self.store.Adopt(adopt, timeout=seconds)).last_sequence
            self.post(ready={"pid": os.getpid()})
            self.ready.set()
            await asyncio.wait([self.turn])
            result = {"interrupted": True} if self.turn.cancelled() else self.turn.result()
            self.finish = asyncio.Event()
            await self.send(result={"result": result})
            await asyncio.wait_for(self.finish.wait(), self.budget("finish_wait", 30))
            finish = store.FinishExecutionRequest(fence=fence, last_sequence=last)
            await self.store.FinishExecution(finish, timeout=seconds)
            self.post(finished=owner.Finished())
        except Exception as error:  # Whatever it is, the owner is told, and the process ends.
            self.post(error={"reason": "REASON_RUNTIME_FAILED", "message": repr(error)[:1_024]})

    async def say(self, text, channel=event.DELTA_CHANNEL_ANSWER):
        for at in range(0, len(text), 65_536):  # A delta has at most 262,144 bytes.
            delta = {"text": text[at : at + 65_536], "channel": channel}
            await self.send(events={"events": [{"delta": delta}]})

    async def ask(self, kind, request, seconds):
        """Raises a prompt. Returns a person's answer, or None where there is none."""
        if self.boot.headless:
            return None
        prompt_id, end = os.urandom(16).hex(), prompt.PROMPT_END_STOPPED
        answer = self.prompts[prompt_id] = asyncio.Future()
        await self.send(**{kind: {"prompt_id": prompt_id, "request": request}})
        try:
            await asyncio.wait([answer], timeout=self.budget(kind, seconds) or None)
            end = prompt.PROMPT_END_EXPIRED
        finally:
            if not answer.done():
                self.post(prompt_settled={"prompt_id": prompt_id, "end": end})
        end = getattr(answer.result(), "end", end) if answer.done() else end
        return answer.result() if end == prompt.PROMPT_END_ANSWERED else None

    async def do_tool(self, rest):
        call, _, result = rest.partition(" => ")
        name, _, arguments = call.partition(" ")
        started = event.ToolStarted(tool_call_id=os.urandom(16).hex(), name=name)
        started.arguments.update(json.loads(arguments))
        await self.send(events={"events": [{"tool_started": started}]})
        ended = {"tool_call_id": started.tool_call_id, "name": name, "result": result}
        await self.send(events={"events": [{"tool_completed": ended}]})
        return f"{name}: {result}"

    async def do_approve(self, command):
        if command in self.boot.granted_commands:
            return "approved: granted"
        request = {"command": command, "description": "It was told to.", "allow_session": True}
        answer = await self.ask("approval", request, 300)
        if not answer or answer.choice == prompt.APPROVAL_CHOICE_DENY:
            return "denied"
        return f"approved: {prompt.ApprovalChoice.Name(answer.choice).split('_')[-1].lower()}"

    async def do_ask(self, rest):
        text, *choices = rest.split(" | ")
        question = {"question_id": "q1", "text": text, "choices": choices}
        answer = await self.ask("clarify", {"question": question, "position": 1, "total": 1}, 3_600)
        return f"answered: {answer.text}" if answer and answer.text else "unanswered"

    async def do_sleep(self, milliseconds):
        return await asyncio.sleep(int(milliseconds) / 1_000, "slept")

    async def do_flood(self, rest):
        count, _, size = map(int, rest.split())
        for _ in range(count):
            await self.say("x" * size, event.DELTA_CHANNEL_REASONING)
        return "flooded"

    async def answer(self):
        """Does what the input says. Returns the receipt."""
        await self.ready.wait()
        verb, _, rest = self.boot.input.text.partition(" ")
        if verb == "!fail":
            reason, _, error = rest.partition(" ")
            return {"failed": True, "failure_reason": f"REASON_{reason}", "error": error[:4_096]}
        obey = getattr(self, f"do_{verb[1:]}", None) if verb.startswith("!") else None
        text = await obey(rest) if obey else self.boot.input.text
        await self.say(text)
        return {"final_response": text, "completed": True}


if __name__ == "__main__":
    token = base64.urlsafe_b64decode(sys.stdin.buffer.readline().strip() + b"=")
    asyncio.run(Worker().serve(token))
