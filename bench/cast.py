#!/usr/bin/env python3
"""Records a command at a terminal of a size, as asciinema does (its cast format, version 2).

  bench/cast.py [--columns 80] [--lines 24] OUT.cast COMMAND…      records

asciinema play OUT.cast shows it. The command's exit code is this program's.
"""
import argparse, codecs, fcntl, json, os, pty, struct, sys, termios, time

p = argparse.ArgumentParser()
p.add_argument("--columns", type=int, default=80)
p.add_argument("--lines", type=int, default=24)
p.add_argument("out")
p.add_argument("command", nargs=argparse.REMAINDER)
a = p.parse_args()

begin = time.time()
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm-256color"
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", a.lines, a.columns, 0, 0))
    os.execvp(a.command[0], a.command)
text = codecs.getincrementaldecoder("utf-8")("replace")
with open(a.out, "w", encoding="utf-8") as cast:
    head = {"version": 2, "width": a.columns, "height": a.lines, "timestamp": int(begin), "command": " ".join(a.command)}
    cast.write(json.dumps(head) + "\n")
    while True:
        try:
            b = os.read(fd, 65536)
        except OSError:  # the other side is closed
            break
        if not b:
            break
        cast.write(json.dumps([round(time.time() - begin, 6), "o", text.decode(b)], ensure_ascii=False) + "\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
