import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LedgerCall, ledgerOf } from "./index.ts";

const CWD = "/work/app";

const bash = (command: string): LedgerCall => ({ name: "bash", arguments: { command } });
const ledger = (...calls: LedgerCall[]) => ledgerOf(calls, CWD);

const READ_ONLY = [
	"",
	"# only a comment",
	"ls",
	"ls -la src",
	"cat a.txt b.txt",
	"/bin/cat a.txt",
	"\\ls -l",
	"head -n 20 src/a.ts | tail -5",
	"grep -rn 'foo > bar' src | wc -l",
	'cat "$f" $g',
	"rg -n 'a|b' --type ts",
	"find . -name '*.ts' -not -path './node_modules/*' -type f",
	"find . -name *.py | xargs grep -l foo",
	"find src -type f -exec grep -Hn TODO {} +",
	"find . -name '*.log' -exec wc -l {} \\;",
	"find . -type f -print0 | xargs -0 -n 50 -P 4 grep -l x",
	"find . -exec sh -c 'cat a' \\;",
	"xargs",
	"sort -u -k2,2 -t , a.csv | uniq -c",
	"cut -d: -f1 /etc/passwd",
	"awk '{print $1}' a.txt",
	"awk -F: '$3 > 1000 {print $1}' /etc/passwd",
	"awk '{print $1 \" -> \" $2}' a",
	"awk '/foo|bar/ {n++} END {print n}' a",
	"sed -n '10,20p' a.ts",
	"sed 's/a/b/g; /^#/d' a",
	"sed -E -e 's|/usr/(bin)|\\1|' -e '$!N' a",
	"sed -n '/^func/,/^}/p' a.go",
	"sed -e 's|[^/]*$||' -e 's/[[:space:]]*$//' -e 's/[^,]*//2' a",
	"jq '.a | .b' package.json",
	"jq -r '.scripts | keys[]' < package.json",
	"diff -u a b",
	"diff <(sort a) <(sort b)",
	"stat a; file a; du -sh .; df -h",
	"pwd && echo hi || true",
	"printf '%s\\n' a b",
	"test -f a && echo yes",
	"[ -d src ] && ls src",
	"[[ -f a && $x == y* ]] && cat a",
	"date",
	"date +%s -u",
	"date -d yesterday +%F",
	"date -Iseconds",
	"which node; type ls; command -v rm",
	"env",
	"env FOO=1 ls",
	"FOO=1 BAR='x y' ls",
	"GIT_PAGER=cat PAGER= git log",
	"ps aux | grep node | grep -v grep",
	"uname -a",
	'basename "$(pwd)"',
	"tree -L 2",
	"xxd -l 64 a.bin",
	"hexdump -C a | head",
	"git status --short",
	"git log --oneline -5 -- src/a.ts",
	"git log -S'WORD' -- src",
	"git diff HEAD~1 -- a.ts | head -50",
	"git diff --stat main...HEAD",
	"git show HEAD:src/a.ts",
	"git blame -L 1,10 a",
	"git -C sub --no-pager log -1",
	"git branch",
	"git branch -a -vv",
	"git branch --show-current",
	"git branch --list 'feat/*'",
	"git branch --contains abc",
	"git branch --format='%(refname:short)'",
	"git tag -l 'v*'",
	"git remote -v",
	"git remote show origin",
	"git rev-parse --abbrev-ref HEAD",
	"git ls-files | wc -l",
	"git grep -n foo",
	"git stash list",
	"git config --get user.name",
	"git config user.email",
	"git reflog -5",
	"git worktree list",
	"git apply --check a.patch",
	"git -c core.pager=cat -c color.ui=never diff",
	"git --version",
	"node --version && npm -v && python3 -V",
	"npm ls --depth=0",
	"npm view react version",
	"npm outdated",
	"pip list",
	"docker ps -a",
	"gh pr view 12 --json title",
	"tar -tzf a.tgz",
	"unzip -l a.zip",
	"cat <<'EOF'\nrm x > y\nEOF",
	"grep foo <<< 'bar'",
	"ls > /dev/null 2>&1",
	"ls 2>/dev/null | tee /dev/stderr",
	"ls &>/dev/null",
	"echo hi >&2",
	"exec 3>&-",
	"cd src && ls",
	"cd src; export A=1; set -euo pipefail; ls",
	"for f in a b; do echo $f; cat $f; done",
	'while read -r line; do echo "$line"; done < a',
	"if [ -f a ]; then cat a; elif [ -f b ]; then cat b; else ls; fi",
	"case $x in a) ls;; *) pwd;; esac",
	"(cd src && ls); { pwd; }",
	"x=$(git rev-parse HEAD); echo $x",
	"echo $((1 + 2)) `date`",
	"(( x > 3 )) && ls",
	"bash -c 'ls | wc -l'",
	"bash -lc 'cat a'",
	"bash -n script.sh",
	"sh <<'EOF'\nls\nEOF",
	"eval 'ls -l'",
	"sudo -u bob ls",
	"timeout 5 grep x a",
	"timeout -k 5 10s ls",
	"nice -n 5 ls; nohup ls",
	"time ls; time -p ls; ! ls",
	"sleep 1 & wait",
	"time (ls; pwd)",
	"date '+%Y > %m'",
	"xxd -cols 8 -s -100 a.bin",
	"git ls-files --others --exclude-standard",
	'git diff --name-only | while read -r f; do wc -l "$f"; done',
	"awk 'NR>=10 && NR<=20' a; awk 'NR==FNR{a[$1];next} ($1 in a)' a b",
	"awk -v OFS='\\t' '{print $1,$2}' a | column -t",
	"sed -n '1,50p;100,120p' a && sed -n '/start/,/end/{p;=}' b",
	"find . -type f \\( -name '*.js' -o -name '*.ts' \\) ! -path '*/node_modules/*' -mtime -1 -print0 | xargs -0 ls -lt",
	"cat a | jq -r '.items[] | select(.x > 3) | .name'",
	"cat a | grep -v '^#' | cut -d= -f2- | tr -s ' ' | paste -sd,",
	"if ! command -v rg >/dev/null 2>&1; then echo missing; fi",
	"diff <(git show HEAD:a.ts) a.ts || true",
	"wc -l $(git ls-files '*.ts')",
	"ls \\\n\t-la \\\n\tsrc",
];

/** Commands that are not provably read-only, with the files they name. */
const EFFECTS: [command: string, ...files: string[]][] = [
	["echo hi > a.txt", "a.txt"],
	["echo hi >> ./a.txt", "a.txt"],
	["echo hi >| a.txt", "a.txt"],
	["make &> build.log", "build.log"],
	["make &>> build.log", "build.log"],
	["make >& build.log", "build.log"],
	["make > out.log 2> err.log", "err.log", "out.log"],
	["> empty.txt", "empty.txt"],
	["2>err ls", "err"],
	['echo hi > "a b.txt"', "a b.txt"],
	["echo hi > a\\ b.txt", "a b.txt"],
	["echo hi > $'a\\x20b'", "a b"],
	["echo hi > $F"],
	['echo hi > "$dir/a.txt"'],
	["echo hi > a-$(date +%s).log"],
	["echo hi > *.txt"],
	["echo hi > ~/notes.md", "~/notes.md"],
	["echo hi > /tmp/x", "/tmp/x"],
	["echo hi > /work/app/src/a.ts", "src/a.ts"],
	["echo hi > ../other/a.ts", "/work/other/a.ts"],
	["echo hi > src/../a.ts", "a.ts"],
	["echo hi > /dev/shm/x", "/dev/shm/x"],
	["cat a > /dev/sda"],
	["exec 3<>/dev/tcp/host/80"],
	["cat <<'EOF' > a.py\nprint(1) > x\nEOF", "a.py"],
	["cat > a.py <<EOF\nprint($x)\nEOF\nls", "a.py"],
	["cat <<EOF\n$(rm inner)\nEOF", "inner"],
	["tee a b < c", "a", "b"],
	["echo x | sudo tee -a /etc/hosts > /dev/null", "/etc/hosts"],
	["sort a | sponge a", "a"],
	["sed -i 's/a/b/' a.ts b.ts", "a.ts", "b.ts"],
	["sed -i.bak 's/a/b/' a.ts", "a.ts"],
	["sed --in-place 's/a/b/' a.ts", "a.ts"],
	["sed --in-place=.bak 's/a/b/' a.ts", "a.ts"],
	["sed -ni '1p' a.ts", "a.ts"],
	["sed -Ei 's/a/b/' a.ts", "a.ts"],
	["sed -i -e 's/a/b/' -e 's/c/d/' .env", ".env"],
	["sed -i -f fix.sed a.ts", "a.ts"],
	["sed -i '' 's/a/b/' a.ts", "a.ts"],
	["sed -i '' -e 's/a/b/' a.ts", "a.ts"],
	["sed -i .bak 's/a/b/' a.ts", "a.ts"],
	["sed -i -- 's/a/b/' -a.ts", "-a.ts"],
	["sed -e 's/a/b/' -i a.ts", "a.ts"],
	['sed -i "s/$A/$B/" a.ts', "a.ts"],
	["sed -i 's/a/b/' src/*.ts"],
	["sed 's/a/b/w out' a"],
	["sed -n 'w out' a"],
	["sed '1e rm x' a"],
	["sed 's/a/rm x/e' a"],
	["sed 's/[]/;]/x/w f/p' a"],
	["sed -f script.sed a"],
	['sed -n "$a"p f'],
	["perl -pi -e 's/a/b/' a b", "a", "b"],
	["perl -i.bak -pe 's/a/b/' a", "a"],
	["perl -0777 -i -pe 's/a/b/gs' a", "a"],
	["perl -e 'print 1'"],
	["ruby -i -pe 'gsub(1)' a", "a"],
	["gawk -i inplace '{print}' a", "a"],
	["awk '{print > \"out\"}' a"],
	["awk '{print | \"sh\"}' a"],
	["awk 'BEGIN {system(\"rm x\")}'"],
	["awk 'BEGIN {\"rm x\" | getline}'"],
	["awk -f prog.awk a"],
	['awk \'/"/ {print > "f"}\' a'],
	["yq -i '.a = 1' a.yml", "a.yml"],
	["mv a b", "a", "b"],
	["mv a b dir", "a", "b", "dir/a", "dir/b"],
	["mv a dir/", "a", "dir/a"],
	["mv -t dir a", "a", "dir/a"],
	["cp a b", "b"],
	["cp src/a.ts .", "a.ts"],
	["cp -r src/a src/b out/", "out/a", "out/b"],
	["cp a{,.bak}", "a.bak"],
	["cp $x b", "b"],
	["cp a $dir"],
	["rm -rf dist/ a.ts", "a.ts", "dist"],
	["rm -- -a", "-a"],
	["rm *.log"],
	["rm $x b", "b"],
	["touch src/{a,b}.ts", "src/a.ts", "src/b.ts"],
	["touch -d '1 day ago' a", "a"],
	["touch x{1..3}"],
	["truncate -s 0 a.log", "a.log"],
	["ln -s ../a b", "b"],
	["install -m 755 a bin/", "bin/a"],
	["install -d dir"],
	["mkdir -p src/new"],
	["chmod +x a.sh"],
	["dd if=/dev/zero of=img bs=1M count=1", "img"],
	["dd if=a of=/dev/null"],
	["sort -o a a", "a"],
	["sort -uo a a", "a"],
	["sort $FLAGS a"],
	["uniq a b", "b"],
	["xxd -r a b", "b"],
	["tree -o out.txt", "out.txt"],
	["find . -name '*.tmp' -delete"],
	["find . -fprint list.txt", "list.txt"],
	["find . -name x -exec rm {} \\;"],
	["find . -name x -exec rm -f {} + -o -print"],
	["find . -exec sh -c 'rm \"$1\"; touch done' _ {} \\;", "done"],
	['find "$dir" -name x'],
	["ls | xargs rm"],
	["ls | xargs -I{} cp {} dest/"],
	["ls | xargs -I % sh -c 'cat %'"],
	["xargs touch marker < list", "marker"],
	["rg --pre cat foo"],
	["xxd -ps a b", "b"],
	["xxd -cols 8 a b", "b"],
	["nm --plugin x.so a"],
	["jobs -x rm a"],
	["read 'a[$(rm x)]'"],
	["date -s tomorrow"],
	["find . -name node_modules -prune -o -name '*.ts' -print | xargs sed -i 's/a/b/'"],
	['grep -rl foo src | while read f; do sed -i "s/foo/bar/" "$f"; done'],
	["for i in $(seq 5); do curl -s localhost && break || sleep 1; done"],
	["npm test 2>&1 | tee /tmp/test.log | grep -E '(FAIL|PASS)' | head -40", "/tmp/test.log"],
	["[ -f .env ] || cp .env.example .env", ".env"],
	["nohup npm run dev > dev.log 2>&1 &", "dev.log"],
	["tar czf b.tgz src && mv b.tgz /tmp/", "/tmp/b.tgz", "b.tgz"],
	["rm -r dist; mkdir -p dist/{js,css} && cp -r public/. dist/", "dist"],
	["jq '.v = 2' a.json > tmp.json && mv tmp.json a.json", "a.json", "tmp.json"],
	["sudo sh -c 'echo 1 > /etc/x' && sudo tee /etc/y <<< 1", "/etc/x", "/etc/y"],
	["gcc -o prog a.c && ./prog < in > out", "out"],
	["(cd web && npm run build) > build.log 2>&1", "build.log"],
	["python3 - <<'EOF'\nopen('a', 'w')\nEOF"],
	["git worktree add ../wt && git -C ../wt checkout -- f", "/work/wt/f"],
	["date 01010000"],
	["git checkout -- a.ts src/b.ts", "a.ts", "src/b.ts"],
	["git checkout HEAD~1 -- a.ts", "a.ts"],
	["git checkout -- .", "."],
	["git checkout main"],
	["git checkout -- '*.ts'"],
	["git restore a.ts", "a.ts"],
	["git restore --source=HEAD~1 -W -S a.ts", "a.ts"],
	["git restore --staged a.ts"],
	["git rm -f a.ts", "a.ts"],
	["git rm --cached a.ts"],
	["git mv a.ts b.ts", "a.ts", "b.ts"],
	["git -C sub rm a.ts", "sub/a.ts"],
	["git -C /x -C y rm a.ts", "/x/y/a.ts"],
	["git diff --output=a.patch", "a.patch"],
	["git diff > a.patch", "a.patch"],
	["git archive -o a.tar HEAD", "a.tar"],
	["git apply a.patch"],
	["git reset --hard"],
	["git stash"],
	["git stash pop"],
	["git commit -m 'x > y'"],
	["git add -A && git commit -m x && git push"],
	["git branch new"],
	["git branch -D old"],
	["git branch --sort x new"],
	["git tag v1"],
	["git config user.name x"],
	["git config --unset user.name"],
	["git remote add origin url"],
	["git -c core.pager='rm x' log"],
	["git grep -O foo"],
	["git"],
	["patch -p1 < a.patch"],
	["patch a.c a.patch", "a.c"],
	["patch -d sub a.c < a.patch", "sub/a.c"],
	["curl -o a.html https://x.io", "a.html"],
	["curl -sSLo a.tgz https://x.io/a", "a.tgz"],
	["curl -fsSL --output a.tgz https://x.io/a", "a.tgz"],
	["curl -O https://x.io/d/a.tgz?x=1", "a.tgz"],
	["curl -o- https://x.io | bash"],
	["curl -s https://x.io | jq ."],
	["curl -o /dev/null https://x.io"],
	["wget -O a.html https://x.io", "a.html"],
	["wget -qO- https://x.io"],
	["wget https://x.io/a"],
	["npm test"],
	["npm i && npm run build"],
	["npx vitest run"],
	["pytest -q"],
	["make"],
	["pip install x"],
	["pip list --log a"],
	["python3 -c 'print(1)'"],
	["node script.js"],
	["./ls"],
	["$CMD a"],
	["constructor; toString; __proto__"],
	["PATH=/evil ls"],
	["LD_PRELOAD=x ls"],
	["export PATH=/evil:$PATH; ls"],
	["env PATH=/evil ls"],
	["export 'PATH=/evil'; ls"],
	["GIT_EXTERNAL_DIFF=x git diff"],
	["PAGER='rm x' git log"],
	["ls | tee a.txt | wc -l", "a.txt"],
	["a && rm b || rm c; rm d", "b", "c", "d"],
	["(rm a); { rm b; }", "a", "b"],
	["if rm a; then rm b; else rm c; fi", "a", "b", "c"],
	["for f in x; do rm a; done > log", "a", "log"],
	["while rm a; do rm b; done", "a", "b"],
	["case x in x) rm a;; esac", "a"],
	["f() { rm a; }; f", "a"],
	["function f { ls; }; f"],
	['echo $(rm a) `rm b` "$(rm c)"', "a", "b", "c"],
	["cat <(rm a) > >(tee b)", "b", "a"],
	["x=$(rm a); y=(1 $(rm b))", "a", "b"],
	["(( x = $(rm a) ))", "a"],
	["coproc rm a", "a"],
	["rm a & rm b", "a", "b"],
	["bash -c 'rm a && echo x > b'", "a", "b"],
	["sh -ec 'rm a'", "a"],
	['bash -c "rm $x"'],
	["bash script.sh"],
	["bash <<'EOF'\nrm a\nEOF", "a"],
	["bash <<< 'rm a'", "a"],
	["echo 'rm a' | bash"],
	["eval 'cd sub; rm a'; rm b", "sub/a", "sub/b"],
	['eval "$x"'],
	["source env.sh"],
	["env -i FOO=1 rm a", "a"],
	["env -C sub rm a", "sub/a"],
	["sudo rm -f a", "a"],
	["sudo -u bob rm a", "a"],
	["FOO=1 nohup timeout -s KILL 5 nice -n 2 rm a", "a"],
	["time rm a", "a"],
	["! rm a", "a"],
	["command rm a", "a"],
	["exec rm a", "a"],
	["exec > log.txt", "log.txt"],
	["timeout $T ls"],
	["cd sub && rm a", "sub/a"],
	["cd sub; cd ..; rm a", "a"],
	["cd /tmp && rm a", "/tmp/a"],
	["cd ~/x && rm a", "~/x/a"],
	["cd && rm a", "~/a"],
	["cd sub && rm a && cd - && rm b", "b", "sub/a"],
	["pushd sub; rm a; popd; rm b", "sub/a"],
	['cd "$X" && rm a /tmp/b', "/tmp/b"],
	["(cd sub && rm a); rm b", "b", "sub/a"],
	["cd sub | rm a", "a"],
	["cd sub & rm a", "a"],
	["cd sub || exit 1; rm a", "sub/a"],
	["cd a || cd b; rm c"],
	["cd a || { mkdir a && cd a; }; rm b", "a/b"],
	["if [ -d sub ]; then cd sub; fi; rm a"],
	["if x; then cd sub; else cd sub; fi; rm a", "sub/a"],
	["for d in a b; do (cd $d && rm x); done; rm y", "y"],
	["f() { cd sub; }; f; rm a"],
	["bash -c 'cd sub'; rm a", "a"],
	["cd /work/app/sub && rm ../a", "a"],
	['echo "unterminated > a'],
	["if true; then rm a"],
	["alias ls='rm -rf x'"],
	["trap 'rm a' EXIT"],
	["kill 123"],
];

describe("a bash command", () => {
	it.each(READ_ONLY)("leaves no trace: %s", (command) => {
		expect(ledger(bash(command))).toEqual({ filesRead: [], filesModified: [], bashSideEffects: [] });
	});

	it.each(EFFECTS)("is a side effect on the files it names: %s", (command, ...files) => {
		const { filesModified, bashSideEffects } = ledger(bash(command));
		expect({ filesModified, count: bashSideEffects.length }).toEqual({ filesModified: files.toSorted(), count: 1 });
	});
});

describe("a side effect", () => {
	const shown = (command: string) => ledger(bash(command)).bashSideEffects;

	it.each([
		["  rm   a  ", "rm   a"],
		["ls\nrm a\n\nmake", "ls ⏎ rm a ⏎ make"],
		["rm \\\n\ta \\\n\tb", "rm a b"],
		["cat > a <<'EOF'\nlong\ntext\nEOF\nnode a", "cat > a <<'EOF' ⏎ … ⏎ node a"],
		["while x; do cat <<A; done <<B\na\nA\nb\nB", "while x; do cat <<A; done <<B ⏎ … ⏎ …"],
		["rm a\tb\u0007", "rm a b"],
	])("is shown as written, on one line, without here-documents: %j", (command, line) => {
		expect(shown(command)).toEqual([line]);
	});

	it("is cut at 300 characters, never within one", () => {
		const [line = ""] = shown(`makes ${"😀".repeat(300)}`);
		expect(line).toHaveLength(299);
		expect(line.endsWith("😀…")).toBe(true);
		expect(shown(`make ${"a".repeat(295)}`)).toEqual([`make ${"a".repeat(295)}`]);
	});

	it("is listed once, however often it ran", () => {
		expect(ledger(bash("make"), bash("make "), bash("ls"), bash("a")).bashSideEffects).toEqual(["a", "make"]);
	});

	it("is every powershell command", () => {
		const call = { name: "powershell", arguments: { command: "Get-ChildItem > a.txt" } };
		expect(ledger(call)).toEqual({ filesRead: [], filesModified: [], bashSideEffects: ["Get-ChildItem > a.txt"] });
	});
});

describe("a file tool", () => {
	it.each([
		["read", { path: "src/a.ts" }, "src/a.ts", undefined],
		["Read", { file_path: "./src//a.ts" }, "src/a.ts", undefined],
		["read_file", { filePath: "/work/app/a.ts" }, "a.ts", undefined],
		["view", { path: "@a.ts" }, "a.ts", undefined],
		["read", { path: "../b.ts" }, "/work/b.ts", undefined],
		["read", { path: "/work/application/b.ts" }, "/work/application/b.ts", undefined],
		["read", { path: "~/b.ts" }, "~/b.ts", undefined],
		["read", { path: "." }, ".", undefined],
		["read", { path: "a\nb" }, "a?b", undefined],
		["write", { path: "a.ts", content: "" }, undefined, "a.ts"],
		["edit", { path: "/work/app/", edits: [] }, undefined, "."],
		["multi_edit", { file_path: "a.ts", edits: [{ old: "x" }] }, undefined, "a.ts"],
		["multi-edit", { edits: [{ path: "b.ts" }, null, 3] }, undefined, "b.ts"],
	])("counts the path it names: %s %j", (name, args, read, modified) => {
		const { filesRead, filesModified } = ledger({ name, arguments: args });
		expect([filesRead[0], filesModified[0]]).toEqual([read, modified]);
	});

	it.each([
		["grep", { pattern: "x", path: "src" }],
		["find", { pattern: "*.ts", path: "src" }],
		["ls", { path: "src" }],
		["deploy", { path: "a.ts", command: "rm a" }],
		["constructor", { path: "a.ts" }],
		["read", "a.ts"],
		["read", null],
		["read", ["a.ts"]],
		["read", { path: 3 }],
		["read", { path: "" }],
		["write", { path: ["a.ts"] }],
		["edit", { edits: "a.ts" }],
		["bash", { command: ["rm", "a"] }],
		["bash", undefined],
	])("counts nothing for another tool or malformed arguments: %s %j", (name, args) => {
		expect(ledger({ name, arguments: args })).toEqual({ filesRead: [], filesModified: [], bashSideEffects: [] });
	});

	it("names Windows paths with slashes, relative to a Windows directory in any case", () => {
		const calls = ["C:\\Work\\app\\src\\a.ts", "c:/work/APP/b.ts", "D:\\c.ts", "C:\\work\\app"].map((path) => ({
			name: "read",
			arguments: { path },
		}));
		expect(ledgerOf(calls, "C:\\work\\app").filesRead).toEqual([".", "D:/c.ts", "b.ts", "src/a.ts"]);
	});

	it("names paths below the root directory without the slash", () => {
		expect(ledgerOf([bash("rm /a b")], "/").filesModified).toEqual(["a", "b"]);
	});
});

describe("a span", () => {
	it("counts nested calls, and nothing of a call that never ran", () => {
		const script: LedgerCall = {
			name: "script",
			arguments: {},
			nested: [bash("rm a"), { ...bash("rm b"), executed: false }],
		};
		const blocked: LedgerCall = { ...bash("rm c"), executed: false, nested: [bash("rm d")] };
		expect(ledger(script, blocked)).toEqual({ filesRead: [], filesModified: ["a"], bashSideEffects: ["rm a"] });
	});

	it("lists a file under both heads if it was read and changed", () => {
		const calls = ["read", "edit", "read"].map((name) => ({ name, arguments: { path: "a.ts" } }));
		expect(ledger(...calls)).toEqual({ filesRead: ["a.ts"], filesModified: ["a.ts"], bashSideEffects: [] });
	});
});

describe("whatever the calls are", () => {
	const shellText = fc
		.array(
			fc.constantFrom(
				..."rm a|> b|$(|)|`|'|\"|{|}|(|;|\n|&&|||| |cd x|sed -i s/a/b/|bash -c|<<E\n|E\n|if|then|fi|-o|~|*|$x|\\|\0|=|xargs|find . -exec".split(
					"|",
				),
				"|",
			),
		)
		.map((pieces) => pieces.join(" "));
	const call: fc.Arbitrary<LedgerCall> = fc.record({
		name: fc.constantFrom("bash", "read", "edit", "powershell", "other"),
		arguments: fc.oneof(
			fc.anything(),
			fc.record({ command: fc.oneof(shellText, fc.string({ unit: "binary" })) }),
			fc.record({ path: fc.string({ unit: "binary" }) }),
		),
	});

	it("the ledger is sorted, without duplicates, one line each, and no call changes", () => {
		fc.assert(
			fc.property(fc.array(call), fc.constantFrom(CWD, "/", "", "C:\\x"), (calls, cwd) => {
				const before = structuredClone(calls.map(({ name }) => name));
				for (const lines of Object.values(ledgerOf(calls, cwd)) as string[][]) {
					expect(lines).toEqual([...new Set(lines)].sort());
					expect(lines.filter((line) => line === "" || /[\n\r]/.test(line))).toEqual([]);
				}
				expect(calls.map(({ name }) => name)).toEqual(before);
			}),
			{ numRuns: 2000 },
		);
	});

	it("the order of the calls doesn't matter", () => {
		fc.assert(
			fc.property(fc.array(call), (calls) => {
				expect(ledger(...calls.toReversed())).toEqual(ledger(...calls));
			}),
		);
	});

	it("a redirection to a file makes any command a side effect on that file", () => {
		fc.assert(
			fc.property(fc.constantFrom(...READ_ONLY.filter((command) => !/[#\n&]|done <|^$/.test(command))), (command) => {
				const { filesModified, bashSideEffects } = ledger(bash(`{ ${command}\n} > out.txt`));
				expect([filesModified, bashSideEffects.length]).toEqual([["out.txt"], 1]);
			}),
		);
	});

	it.each(["$(", "(", "`", "{a,b}", "sudo ", "eval ", "cd a;", "rm a;", "((1+", "function f ", "coproc ", 'echo "$('])(
		"a long command is read in time that grows with its length alone: %j",
		(piece) => {
			const start = performance.now();
			ledger(bash(piece.repeat(250_000 / piece.length)));
			expect(performance.now() - start).toBeLessThan(10_000);
		},
	);
});
