"""A Talaria worker in Python. Make the stubs with `make`, then in agent.yaml:

    runtime: command
    worker: { command: [python3, /path/to/examples/python-worker/worker.py] }

It understands the words of docs/workers.md, which `talaria conformance worker` uses to try a worker.
"""
import hashlib, json, re, time, uuid

from talaria_worker import MIB, Stopped, serve_worker
from talaria.types.v1 import conversation_pb2 as conv, event_pb2 as ev, prompt_pb2 as pr, result_pb2 as res
from talaria.owner.v1 import execution_store_service_pb2 as st, owner_service_pb2 as ow
from talaria.reason.v1.reason_pb2 import Reason


class Turn:
    def __init__(self, worker):
        self.worker, self.boot = worker, worker.boot

    def emit(self, **event):
        if self.worker.stopped:
            raise Stopped
        self.worker.send(events=ow.Events(events=[ev.TurnEvent(**event)]))

    def say(self, text, channel=ev.DELTA_CHANNEL_ANSWER):
        for at in range(0, len(text), 65_536):  # Code points: at most 262,144 bytes, the bound of a delta.
            self.emit(delta=ev.TextDelta(text=text[at:at + 65_536], channel=channel))

    def ask(self, seconds, **frame):
        """Raises a prompt. Returns the owner's answer, or the word for why there is none."""
        (frame,), (kind,) = frame.values(), frame
        if self.boot.headless:
            return "headless"
        worker, frame.prompt_id = self.worker, uuid.uuid4().hex
        worker.send(**{kind: frame})
        worker.wait(lambda: worker.stopped or frame.prompt_id in worker.prompts, seconds or None)
        answer = worker.prompts.get(frame.prompt_id)
        if answer is None:  # It ends here, so the owner is told.
            end = pr.PROMPT_END_STOPPED if worker.stopped else pr.PROMPT_END_EXPIRED
            worker.send(prompt_settled=ow.PromptSettled(prompt_id=frame.prompt_id, end=end))
            return "stopped" if worker.stopped else "expired"
        if isinstance(answer, ow.PromptRefused):
            return "refused"
        return answer if answer.end == pr.PROMPT_END_ANSWERED else pr.PromptEnd.Name(answer.end)[11:].lower()

    def tool(self, rest):
        name, arguments, result = re.fullmatch(r"(\S+) (.*) => (.*)", rest, re.S).groups()
        started, call = ev.ToolStarted(tool_call_id=uuid.uuid4().hex, name=name), time.monotonic()
        started.arguments.update(json.loads(arguments))
        self.emit(tool_started=started)
        took = int((time.monotonic() - call) * 1_000)
        self.emit(tool_completed=ev.ToolCompleted(tool_call_id=started.tool_call_id, name=name, result=result, duration_ms=took))
        return f"{name}: {result}"

    def approve(self, command):
        if command in self.boot.granted_commands:
            return "approved: granted"
        request = pr.ApprovalRequest(command=command, description="It was told to ask.", allow_session=True, allow_permanent=True)
        answer = self.ask(self.worker.budget("approval", 300), approval=ow.Approval(request=request))
        if isinstance(answer, str) or answer.choice == pr.APPROVAL_CHOICE_DENY:
            return f"denied: {answer if isinstance(answer, str) else 'answered'}"
        return f"approved: {pr.ApprovalChoice.Name(answer.choice)[16:].lower()}"

    def question(self, rest):
        text, *choices = rest.split(" | ")
        asked = pr.ClarifyRequest(question=pr.ClarifyQuestion(question_id="q1", text=text, choices=choices), position=1, total=1)
        waits = self.worker.budget("clarify", 0 if self.boot.budgets.HasField("clarify") else 3_600)
        answer = self.ask(waits, clarify=ow.Clarify(request=asked))
        return "unanswered" if isinstance(answer, str) or not answer.text else f"answered: {answer.text}"

    def sleep(self, milliseconds):
        if self.worker.wait(lambda: self.worker.stopped, int(milliseconds) / 1_000):
            raise Stopped
        return "slept"

    def append(self, text):
        row = conv.ConversationMessage(role=conv.MESSAGE_ROLE_ASSISTANT, text=text)
        return f"appended: row {self.worker.persist(append_messages=st.AppendMessages(messages=[row])).first_row}"

    def repeat(self, rest):
        count, text = rest.split(" ", 1)
        return text * int(count)

    def flood(self, rest):
        count, _, size = (*map(int, rest.split()), 1, 32)[:3]
        for _ in range(count):
            self.say("x" * size, ev.DELTA_CHANNEL_REASONING)
        return "flooded"

    def run(self):
        """Runs the input. Returns the answer and, where the turn failed, why."""
        verb, _, rest = self.boot.input.text.partition(" ")
        if verb == "!fail":
            return "", rest.split(" ", 1)
        verbs = {"!ask": self.question, **{f"!{it.__name__}": it for it in
                 (self.tool, self.approve, self.sleep, self.append, self.repeat, self.flood)}}
        answer = verbs[verb](rest) if verb in verbs else self.boot.input.text
        self.say(answer)
        return answer, None


def receipt(worker):
    try:
        text, error = Turn(worker).run()
    except Stopped:
        text, error = "", None
    result = res.TurnResult(failed=error is not None, interrupted=worker.stopped, session_id=worker.boot.session_id)
    result.completed = not (result.failed or result.interrupted)
    if error is not None:
        result.failure_reason, result.error = Reason.Value(f"REASON_{error[0]}"), error[1][:4_096]
    elif len(encoded := text.encode()) <= MIB:
        result.final_response = text
    else:  # Too long for the receipt: it goes ahead in pieces, and the receipt refers to it.
        for at in range(0, len(text), MIB // 4):
            worker.persist(append_answer_chunk=st.AppendAnswerChunk(text=text[at:at + MIB // 4]))
        result.answer.sha256, result.answer.size_bytes = hashlib.sha256(encoded).digest(), len(encoded)
    return result


if __name__ == "__main__":
    serve_worker(receipt, "python-worker-example")
