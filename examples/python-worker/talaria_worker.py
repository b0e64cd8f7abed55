"""The protocol of a Talaria worker in Python: one process, one turn, over talaria.owner.v1. See worker.py for a program."""
import base64, os, pathlib, platform, re, signal, sys, threading, time

sys.path.append(str(pathlib.Path(__file__).parent / "stubs"))
import grpc
from talaria.owner.v1 import execution_store_service_pb2 as st, execution_store_service_pb2_grpc as st_grpc
from talaria.owner.v1 import owner_service_pb2 as ow, owner_service_pb2_grpc as ow_grpc
from talaria.reason.v1.reason_pb2 import Reason

MIB, RESERVE = 1_048_576, 4_096
OVER = ("failed", "closed", "finished")


class Stopped(Exception):
    """The turn is stopped, or its owner is gone."""


def identity(pid):
    birth = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return ow.ProcessIdentity(pid=pid, birth=birth, boot_id=pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())


class Worker:
    """The Attach stream. Three threads share it: `serve` takes frames, `turn` runs the assignment, `beat` shows that we live."""

    def __init__(self, token, receipt, name):
        self.receipt = receipt
        self.channel = grpc.insecure_channel(f"unix:{os.environ['TALARIA_OWNER_SOCKET']}")
        self.store = st_grpc.ExecutionStoreServiceStub(self.channel)
        self.changed, self.queue, self.outstanding, self.sequence = threading.Condition(), [], {}, 0
        self.phase, self.boot, self.persisted, self.prompts = "attached", None, 0, {}
        self.stopped = self.lost = self.finish = self.ended = False
        build = ow.Build(name=name, version="1.0.0", runtime=f"python {platform.python_version()}")
        self.send(hello=ow.Hello(token=token, process=identity(os.getpid()), ancestors=[identity(os.getppid())],
                                 build=build, protocol=ow.ProtocolRange(min=1, max=1)))

    def send(self, urgent=False, **frame):
        """Numbers a frame and sends it, once the owner's bound on unacknowledged bytes leaves room for it."""
        request, asked = ow.AttachRequest(sequence=2**63, **frame), False
        bound = (self.boot and self.boot.budgets.outstanding_bytes or MIB) - RESERVE
        with self.changed:
            while not urgent and self.outstanding and sum(self.outstanding.values()) + request.ByteSize() > bound:
                if not asked:  # Owners acknowledge now and then, and a heartbeat always.
                    asked = self.send(urgent=True, heartbeat=ow.Heartbeat()) or True
                self.changed.wait(1)
                if self.lost or self.ended or (self.stopped and "events" in frame):
                    raise Stopped
            self.sequence = request.sequence = self.sequence + 1
            self.outstanding[self.sequence] = request.ByteSize()
            self.queue.append(request)
            self.changed.notify_all()

    def requests(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.queue or self.ended)
                if not self.queue:
                    return
                request = self.queue.pop(0)
            yield request

    def change(self, **facts):
        with self.changed:
            self.__dict__.update(facts)
            self.changed.notify_all()

    def advance(self, phase):
        with self.changed:
            if self.phase in OVER:
                raise Stopped
            self.phase = phase

    def wait(self, condition, timeout=None):
        with self.changed:
            return self.changed.wait_for(condition, timeout)

    def budget(self, name, default):
        duration = getattr(self.boot.budgets, name)
        return (duration.seconds + duration.nanos / 1e9) or default

    def serve(self):
        """Attaches and takes the owner's frames until the stream ends. Returns the exit code."""
        for work in (self.watch_launch_pipe, self.beat):
            threading.Thread(target=work, daemon=True).start()
        try:
            for response in ow_grpc.OwnerServiceStub(self.channel).Attach(self.requests()):
                self.take(response, response.WhichOneof("frame"))
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN):
                return 72
        if self.phase not in OVER:
            self.owner_gone()
            self.wait(lambda: False)
        return {"finished": 0, "failed": 70, "closed": 73}[self.phase]

    def take(self, response, kind):
        if kind == "close" and self.phase != "finished":
            self.change(phase="closed", stopped=True, ended=True)
        elif self.phase in OVER:
            pass  # What crosses our last frame on its way is of no interest.
        elif kind == "ack" and response.ack.sequence <= self.sequence:
            self.change(outstanding={n: size for n, size in self.outstanding.items() if n > response.ack.sequence})
        elif kind == "dry_run" and self.phase == "attached":
            self.send(dry_run_done=ow.DryRunDone(round=response.dry_run.round, payload=response.dry_run.payload))
        elif kind == "bootstrap" and self.phase == "attached":
            self.change(boot=response.bootstrap, phase="bootstrapped")
            threading.Thread(target=self.turn, daemon=True).start()
        elif kind == "stop":
            self.change(stopped=True)
        elif kind == "finish" and self.phase == "result":
            self.change(finish=True, phase="finishing")
        elif kind in ("approval_answer", "clarify_answer", "prompt_refused") and self.phase in ("running", "result", "finishing"):
            answer = getattr(response, kind)
            self.change(prompts={**self.prompts, answer.prompt_id: answer})
        elif kind != "draining":
            self.give_up("REASON_FRAME_OUT_OF_PHASE" if kind and kind != "ack" else "REASON_FRAME_INVALID", "A frame is wrong.")

    def give_up(self, reason, message):
        if self.phase not in OVER and not self.lost:
            self.change(phase="failed", stopped=True)
            self.send(urgent=True, error=ow.WorkerError(reason=Reason.Value(reason), message=message[:1_024]))
            self.change(ended=True)

    def beat(self):
        while not self.wait(lambda: self.phase in OVER or self.lost, self.budget("heartbeat", 10) if self.boot else 1):
            if self.boot:
                pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
                self.send(urgent=True, heartbeat=ow.Heartbeat(resident_bytes=pages * os.sysconf("SC_PAGESIZE")))

    def watch_launch_pipe(self):
        while sys.stdin.buffer.read(1):
            pass
        self.owner_gone()

    def owner_gone(self):
        """Nobody is left to work for: ends the process, and with it whatever it has left in its group."""
        self.change(lost=True, stopped=True)
        os.killpg(os.getpgid(0), signal.SIGKILL)

    def call(self, method, request):
        """A store call. One whose answer is lost is repeated as it is, which the owner knows."""
        until = time.monotonic() + self.budget("store_call", 20)
        while True:
            try:
                return method(request, timeout=max(0.1, until - time.monotonic()))
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.UNAVAILABLE or time.monotonic() + 0.05 > until:
                    raise
                time.sleep(0.05)

    def persist(self, **operation):
        operation = st.StoreOperation(**operation)
        answer = self.call(self.store.Persist, st.PersistRequest(fence=self.fence, sequence=self.persisted + 1, operation=operation))
        self.persisted += 1
        return answer

    def turn(self):
        boot = self.boot
        try:
            if boot.protocol != 1 or len(boot.assignment_secret) != 32 or not re.fullmatch("exe_[0-9a-z]{26}", boot.execution_id):
                return self.give_up("REASON_FRAME_INVALID", "The bootstrap breaks the contract.")
            fence = st.Fence(execution_id=boot.execution_id, epoch=boot.epoch, generation=boot.generation)
            adopt = st.AdoptRequest(fence=fence, assignment_secret=boot.assignment_secret, pid=os.getpid())
            adopted = self.call(self.store.Adopt, adopt)
            self.fence, self.persisted = adopted.fence, adopted.last_sequence
            self.advance("running")
            self.send(ready=ow.Ready(pid=os.getpid()))
            result = self.receipt(self)
            self.advance("result")
            self.send(result=ow.Result(result=result))
            if not self.wait(lambda: self.finish, self.budget("finish_wait", 30)):
                return self.give_up("REASON_DEADLINE_EXCEEDED", "No finish came.")
            self.call(self.store.FinishExecution, st.FinishExecutionRequest(fence=self.fence, last_sequence=self.persisted))
            self.send(finished=ow.Finished())
            self.change(phase="finished", ended=True)
        except Exception as error:  # Whatever it is, the owner is told, and the process ends.
            self.give_up("REASON_RUNTIME_FAILED", f"{type(error).__name__}: {error}")


def serve_worker(receipt, name):
    """Makes this process a worker. `receipt(worker)` runs the turn and returns its TurnResult. Never returns."""
    token = sys.stdin.buffer.readline().strip()
    if len(token) != 43:
        sys.exit(71)  # The launcher did not pass the launch pipe on.
    os._exit(Worker(base64.urlsafe_b64decode(token + b"="), receipt, name).serve())
