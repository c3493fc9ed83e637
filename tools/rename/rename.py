#!/usr/bin/env python3
"""Renames the project's private words to those of the field. Plain Python 3, no dependencies.

    rename.py CHECKOUT             rename: git mv, then write the files (the work tree must be clean)
    rename.py CHECKOUT --dry       say what would change, write nothing
    rename.py CHECKOUT --force     rename although names collide (they are listed)
    rename.py CHECKOUT --only TAG  only the sections whose title begins so

Runs on trees where crates/coll is one crate and on those where it has become transfer, collectives,
team and process. A second run changes nothing. Afterwards: cargo fmt, cargo check --workspace
--all-targets, tests.

The table is SECTIONS below. Of all rules for a name the first whose section fits the file counts.
"""
import fnmatch, os, re, subprocess, sys

# ------------------------------------------------------------------------------------------------
# Where. A crate may have been divided: rules name the old one and mean all of its successors too.
# ------------------------------------------------------------------------------------------------
CRATES = {
    "wire": ["wire", "transfer"],
    "coll": ["coll", "transfer", "collectives", "team", "process"],
    "sim": ["sim", "validation"],
    "plan": ["plan"],
    "cli": ["cli", "draw", "doctor"],
}

def at(*names):
    """Globs of crates by name; names with a slash are globs themselves. `{coll}` stands for its successors."""
    out = []
    for name in names:
        m = re.match(r"\{(\w+)\}(.*)", name)
        if m:
            out += ["crates/%s%s" % (c, m.group(2)) for c in CRATES.get(m.group(1), [m.group(1)])]
        elif "/" in name or "*" in name or "." in name:
            out.append(name)
        else:
            out += ["crates/%s/*" % c for c in CRATES.get(name, [name])]
    return out

EVERYWHERE = ["*"]
SECTIONS = []

def pairs(text):
    """`old > new` pairs, one or more a line, parted by commas."""
    out = {}
    for item in re.split(r"[,\n]", text):
        item = item.strip()
        if item:
            old, new = [x.strip() for x in item.split(">")]
            assert old not in out, old
            out[old] = new
    return out

def section(title, where=EVERYWHERE, has=None, unless=(), names="", modules="", pieces="", code=(), nouns="", prose=(), text=()):
    """names:   exact Rust identifiers. modules: module names and the files behind them.
    pieces:  parts of compound snake_case names. code: regular expressions over code.
    nouns:   `old/olds > new/news` in comments and documents, articles follow.
    prose:   regular expressions over comments and documents. text: over string literals."""
    SECTIONS.append(dict(title=title, where=where, has=re.compile(has) if has else None, unless=list(unless),
        names=pairs(names), modules=pairs(modules), pieces=pairs(pieces),
        code=[(re.compile(a), b) for a, b in code], nouns=pairs(nouns),
        prose=[(re.compile(a), b) for a, b in prose], text=[(re.compile(a), b) for a, b in text]))

# ------------------------------------------------------------------------------------------------
# The table
# ------------------------------------------------------------------------------------------------
exec(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.py")).read())

# ------------------------------------------------------------------------------------------------
# Reading Rust: comments, strings, characters, lifetimes, identifiers; the rest is let alone
# ------------------------------------------------------------------------------------------------
TOKEN = re.compile(r'''
  (?P<comment>//[^\n]*|/\*.*?\*/)
 |(?P<string>b?r(?P<h>\#*)".*?"(?P=h)(?!\#)|b?c?"(?:\\.|[^"\\])*")
 |(?P<char>b?'(?:\\[^\n]*?|[^'\\\n])')
 |(?P<life>'[A-Za-z_]\w*)
 |(?P<name>(?:r\#)?[A-Za-z_]\w*)
''', re.S | re.X)

def lex(source):
    """(kind, text) of all of it, in order; kind is code for what lies between."""
    out, last = [], 0
    for m in TOKEN.finditer(source):
        if m.start() > last:
            out.append(["code", source[last:m.start()]])
        out.append([m.lastgroup if m.lastgroup != "h" else "string", m.group()])
        last = m.end()
    if last < len(source):
        out.append(["code", source[last:]])
    return out

def article(word):
    return "an" if re.match(r"[aeiouAEIOU]|OpContext|OpH|OpT|hour", word) and not re.match(r"(?i)one|uni|use|eu", word) else "a"

def cased(like, word):
    return word[0].upper() + word[1:] if like[:1].isupper() else word

def noun_rules(nouns):
    out = []
    for old, new in nouns.items():
        olds, news = old.split("/"), new.split("/")
        if len(olds) == 1:
            olds.append(olds[0] + "s"); news = news if len(news) > 1 else [news[0], news[0] + "s"]
        if len(news) == 1:
            news.append(news[0] + "s")
        for o, n in zip(olds, news):
            if not o or o == "-":
                continue
            def fix(m, n=n):
                art, gap, word = m.group(1), m.group(2), m.group(3)
                if art:
                    low = art.lower()
                    if low in ("a", "an"):
                        art = cased(art, article(n))
                    return art + gap + n
                return cased(word, n)
            out.append((re.compile(r"(?<![\w`:./_-])(?:(an?|An?)(\s+(?:\*+)?))?(%s)(?![\w_`]|::|\.rs|-[a-z])" % re.escape(o).replace(r"\ ", r"\s+"), re.I), fix))
    return out

def split_links(comment):
    """Comment text in pieces: prose, and code in backticks or intra-doc links."""
    return re.split(r"(`[^`\n]*`|\]\([^)\s]*\))", comment)

class File:
    def __init__(self, tree, path):
        self.tree, self.path = tree, path
        with open(os.path.join(tree.root, path), encoding="utf-8") as f:
            self.old = f.read()
        self.rust = path.endswith(".rs")
        self.sections = [s for s in SECTIONS if tree.only in s["title"][:len(tree.only)]
            and any(fnmatch.fnmatch(path, g) for g in s["where"])
            and not any(fnmatch.fnmatch(path, g) for g in s["unless"])
            and (s["has"] is None or s["has"].search(self.old))]
        self.names, self.modules, self.pieces = {}, {}, {}
        for s in self.sections:
            for k in ("names", "modules", "pieces"):
                for old, new in s[k].items():
                    getattr(self, k).setdefault(old, new)
        self.nouns = [r for s in self.sections for r in noun_rules(s["nouns"])]
        self.prose = [r for s in self.sections for r in s["prose"]]
        self.text = [r for s in self.sections for r in s["text"]]
        self.code = [r for s in self.sections for r in s["code"]]
        self.changed_fields = []

    # -- names ---------------------------------------------------------------------------------
    def compound(self, name):
        if "_" not in name.strip("_") or not self.pieces:
            return name
        upper = name.isupper()
        out = []
        for part in name.split("_"):
            new = self.pieces.get(part.lower()) if part == part.lower() or upper else None
            out.append(part if new is None else new.upper() if upper else new)
        return "_".join(out)

    def name(self, name, before, after):
        """The new name of an identifier between this code and that."""
        module = before.rstrip().endswith("mod") or after.lstrip().startswith("::")
        use = re.search(r"\buse\b([^;]*)$", before)
        if name in self.modules and name in self.names and use and not re.search(r"\b%s::" % name, use.group(1)) and self.is_path(before, after):
            return self.modules[name]
        if name in self.modules and (module or name not in self.names and self.is_path(before, after)):
            return self.modules[name]
        if name in self.names:
            return self.names[name]
        return self.compound(name)

    @staticmethod
    def is_path(before, after):
        b, a = before.rstrip(), after.lstrip()
        return (b.endswith("::") and not a.startswith("(")) or \
            (re.search(r"[{,]$", b) and re.search(r"\buse\b[^;]*$", before) and a[:1] in ",}") or \
            (re.search(r"\buse\s*$", b) is not None)

    def word_in_prose(self, word):
        """Names that can only be names are renamed in prose, too."""
        if word in self.names and (re.search(r"[A-Z].*[a-z]|_", word) or word.isupper() and len(word) > 3):
            if word[0].isupper() and word[1:].islower() and word not in PROSE_TYPES:
                return word
            return self.names[word]
        return self.compound(word)

    def code_text(self, text):
        """A piece of code within prose."""
        if re.search(r"--\w|CORECAST_|/", text) and "::" not in text:
            return text
        toks = lex(text)
        return self.rename_tokens(toks)

    def rename_prose(self, text):
        parts = split_links(text)
        for i in range(0, len(parts)):
            p = parts[i]
            if i % 2:
                if p.startswith("`"):
                    parts[i] = "`" + self.code_text(p[1:-1]) + "`"
                elif re.match(r"\]\([\w:@#!]+\)$", p) and not p.endswith(".md)"):
                    parts[i] = "](" + self.code_text(p[2:-1]) + ")"
            else:
                p = re.sub(r"(?<![\w/.-])[A-Za-z_]\w*(?!\w|/|\.rs|-[a-z])", lambda m: self.word_in_prose(m.group()), p)
                parts[i] = p
        text = "".join(parts)
        # Sentences, which may contain code: that is shielded.
        shield = []
        def hide(m):
            shield.append(m.group()); return "\x00%d\x01" % (len(shield) - 1)
        text = re.sub(r"`[^`\n]*`|\]\([^)]*\)|https?://\S+", hide, text)
        for pattern, new in self.prose + self.nouns:
            text = pattern.sub(new, text)
        text = re.sub("\x00(\\d+)\x01", lambda m: shield[int(m.group(1))], text)
        return text

    def rename_string(self, text):
        def capture(m):
            new = self.name(m.group(1), "(", ")")
            return "{" + new + m.group(2)
        text = re.sub(r"(?<!\{)\{([a-z_]\w*)([:}])", capture, text)
        for pattern, new in self.text:
            text = pattern.sub(new, text)
        return text

    def rename_tokens(self, toks):
        out = []
        for i, (kind, t) in enumerate(toks):
            if kind == "name":
                before = "".join(x[1] for x in toks[max(0, i - 80):i] if x[0] in ("code", "name"))[-900:]
                after = "".join(x[1] for x in toks[i + 1:i + 3] if x[0] != "comment")[:40]
                raw = t[2:] if t.startswith("r#") else t
                new = self.name(raw, before, after)
                if new != raw:
                    self.tree.seen(self.path, raw, new)
                out.append(new if new != raw else t)
            elif kind == "string":
                out.append(self.rename_string(t))
            else:
                out.append(t)
        return "".join(out)

    def rename_comments(self, toks):
        """Runs of line comments are taken together, so that sentences over several lines are seen."""
        i = 0
        while i < len(toks):
            if toks[i][0] != "comment":
                i += 1; continue
            j = i; run = []
            while j < len(toks) and (toks[j][0] == "comment" and toks[j][1].startswith("//") or toks[j][0] == "code" and toks[j][1].strip() == "" and toks[j][1].count("\n") == 1 and j + 1 < len(toks) and toks[j + 1][0] == "comment"):
                run.append(j); j += 1
            if not run:
                toks[i][1] = self.comment_block(toks[i][1]); i += 1; continue
            body = "".join(toks[k][1] for k in run)
            new = self.comment_block(body)
            toks[i] = ["comment", new]
            for k in run[1:]:
                toks[k] = ["comment", ""]
            i = j
        return toks

    def comment_block(self, body):
        """Fenced code in documentation is code, all else is prose."""
        lines, out, fence, buf = body.split("\n"), [], None, []
        def flush():
            if not buf:
                return
            head = [re.match(r"(\s*//[/!]?\s?)?(.*)$", l, re.S) for l in buf]
            text = "\n".join(h.group(2) for h in head)
            if fence_kind[0] == "code":
                toks = lex(text); toks = self.rename_comments_inner(toks); new = self.rename_tokens(toks)
                for p, r in self.code:
                    new = p.sub(r, new)
            elif fence_kind[0] == "picture":
                new = self.rename_picture(text)
            else:
                new = self.rename_prose(text)
            rows = new.split("\n")
            if len(rows) != len(buf):
                rows = rows[:len(buf) - 1] + [" ".join(rows[len(buf) - 1:])] if len(rows) > len(buf) else rows + [""] * (len(buf) - len(rows))
            out.extend((h.group(1) or "") + r for h, r in zip(head, rows))
            buf.clear()
        fence_kind = ["prose"]
        for line in lines:
            inner = re.sub(r"^\s*//[/!]?\s?", "", line)
            if inner.lstrip().startswith("```"):
                flush(); out.append(line)
                if fence_kind[0] == "prose":
                    lang = inner.strip()[3:].strip()
                    fence_kind[0] = "code" if lang in ("", "rust", "no_run", "ignore", "should_panic", "compile_fail") or lang.startswith("rust") else "picture"
                else:
                    fence_kind[0] = "prose"
            else:
                buf.append(line)
        flush()
        return "\n".join(out)

    def rename_comments_inner(self, toks):
        for t in toks:
            if t[0] == "comment":
                t[1] = self.rename_prose(t[1])
        return toks

    def rename_picture(self, text):
        """Drawings keep their columns: only names that can only be names."""
        return re.sub(r"[A-Za-z_]\w*", lambda m: self.word_in_prose(m.group()), text)

    # -- whole files ---------------------------------------------------------------------------
    def new(self):
        if self.rust:
            toks = lex(self.old)
            self.guard(toks)
            toks = self.rename_comments(toks)
            text = self.rename_tokens(toks)
            for pattern, repl in self.code:
                text = pattern.sub(repl, text)
        elif self.path.endswith(".md"):
            text = self.comment_block_md(self.old)
        else:
            text = self.old
        for old, new in self.tree.moved_text:
            text = old.sub(new, text)
        return text

    def comment_block_md(self, body):
        out, buf, kind = [], [], "prose"
        def flush():
            if not buf: return
            text = "\n".join(buf)
            if kind == "code":
                toks = lex(text); new = self.rename_tokens(self.rename_comments_inner(toks))
                for p, r in self.code:
                    new = p.sub(r, new)
            elif kind == "picture": new = self.rename_picture(text)
            else: new = self.rename_prose(text)
            out.append(new); buf.clear()
        for line in body.split("\n"):
            if line.lstrip().startswith("```"):
                flush(); out.append(line)
                kind = ("code" if line.strip()[3:].startswith("rust") else "picture") if kind == "prose" else "prose"
            else:
                buf.append(line)
        flush()
        return "\n".join(out)

    def guard(self, toks):
        """What serde writes keeps its name: a renamed field or variant gets `#[serde(rename)]`.
        Fields of clap's structures are flags: they are reported."""
        text = self.old
        clean = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)
        inserts = []
        for m in re.finditer(r"#\[derive\(([^)]*)\)\]", clean):
            serde = re.search(r"\b(Serialize|Deserialize)\b", m.group(1))
            clap = re.search(r"\b(Args|Parser|Subcommand|ValueEnum)\b", m.group(1))
            if not serde and not clap:
                continue
            head = re.compile(r"\b(struct|enum)\s+\w+[^{;(]*([{;(])").search(clean, m.end())
            if not head or head.group(2) != "{":
                continue
            attrs = clean[m.end():head.start()]
            style = re.search(r'rename_all\s*=\s*"([\w-]+)"', text[m.end():head.start()])
            depth, i = 0, head.end() - 1
            end = i
            while end < len(clean):
                if clean[end] in "{[(": depth += 1
                elif clean[end] in "}])":
                    depth -= 1
                    if depth == 0: break
                end += 1
            for item in self.items(clean, i + 1, end):
                start, name, name_at = item
                new = self.name(name, " ", ":" if head.group(1) == "struct" else ",")
                if new == name:
                    continue
                if clap:
                    self.tree.problems.append("%s: %s of clap's structure would become %s" % (self.path, name, new))
                    continue
                if re.search(r"serde\([^)]*\b(rename|skip|flatten)\b", text[start:name_at]):
                    continue
                shown = spelled(name, style.group(1) if style else None)
                line = text.rfind("\n", 0, name_at) + 1
                vis = re.compile(r"(pub(\([^)]*\))?\s+)?").match(text, line + len(text[line:name_at]) - len(text[line:name_at].lstrip()))
                inserts.append((line, '%s#[serde(rename = "%s")]\n' % (re.match(r"\s*", text[line:]).group(), shown)))
        if inserts:
            for pos, what in sorted(inserts, reverse=True):
                text = text[:pos] + what + text[pos:]
            toks[:] = lex(text)

    @staticmethod
    def items(clean, start, end):
        depth, begin, i = 0, start, start
        while i < end:
            c = clean[i]
            if c == "#" and depth == 0:
                d, i = 0, i + 1
                while i < end:
                    if clean[i] == "[": d += 1
                    elif clean[i] == "]":
                        d -= 1
                        if d == 0: break
                    i += 1
            elif c in "{[(<": depth += 1
            elif c in "}])>" and clean[i - 1] not in "-=": depth -= 1
            elif c == "," and depth == 0: begin = i + 1
            elif depth == 0 and (c.isalpha() or c == "_"):
                m = re.compile(r"\w+").match(clean, i)
                word = m.group()
                if word == "pub":
                    m2 = re.compile(r"pub(\s*\([^)]*\))?").match(clean, i); i = m2.end(); continue
                yield begin, word, i
                # on to the next comma at this depth
                d, i = 0, m.end()
                while i < end and not (clean[i] == "," and d == 0):
                    if clean[i] in "{[(<": d += 1
                    elif clean[i] in "}])>" and clean[i - 1] not in "-=": d -= 1
                    i += 1
                begin = i + 1
            i += 1

def spelled(name, style):
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
    low = [w.lower() for w in words]
    return {"kebab-case": "-".join(low), "snake_case": "_".join(low), "lowercase": "".join(low),
            "SCREAMING_SNAKE_CASE": "_".join(low).upper(), "camelCase": low[0] + "".join(w.title() for w in low[1:])}.get(style, name)

class Tree:
    def __init__(self, root, only=""):
        self.root, self.only = root, only
        self.problems, self.renamed, self.moved_text, self.moves = [], {}, [], []
        self.files = [p for p in subprocess.check_output(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], text=True).split("\n")
            if p and os.path.isfile(os.path.join(root, p)) and not os.path.islink(os.path.join(root, p))]

    def seen(self, path, old, new):
        self.renamed.setdefault(path, {})[old] = new

    def plan_moves(self):
        for s in SECTIONS:
            if self.only not in s["title"][:len(self.only)]:
                continue
            for old, new in s["modules"].items():
                for path in self.files:
                    if not (any(fnmatch.fnmatch(path, g) for g in s["where"]) and not any(fnmatch.fnmatch(path, g) for g in s["unless"])):
                        continue
                    parts = path.split("/")
                    if "src" not in parts and "tests" not in parts and "examples" not in parts and "benches" not in parts:
                        continue
                    if "programs" in parts and "adapters" in parts:
                        continue
                    base = max((parts.index(d) for d in ("src", "tests", "examples") if d in parts), default=0)
                    new_parts = parts[:base + 1] + [new if p == old else new + ".rs" if p == old + ".rs" else p for p in parts[base + 1:]]
                    if new_parts != parts and path.endswith((".rs", ".css", ".txt", ".c")):
                        self.moves.append((path, "/".join(new_parts)))
        first = {}
        for a, b in self.moves:
            first.setdefault(a, b)
        # A file below two renamed folders: apply both.
        done = {}
        for a in first:
            b = first[a]
            for _ in range(3):
                for x, y in self.moves:
                    if x == a and y != b:
                        pa, py, pb = a.split("/"), y.split("/"), b.split("/")
                        b = "/".join(q if p != q else r for p, q, r in zip(pa, py, pb))
            done[a] = b
        self.moves = sorted(done.items())
        have = set(self.files) - set(done)
        for a, b in self.moves:
            if b in have:
                self.problems.append("file %s exists, %s would take its place" % (b, a))
        for a, b in self.moves:
            # In texts a file is named by its path, or by its end.
            pa, pb = a.split("/"), b.split("/")
            for n in range(len(pa), 0, -1):
                tail_a, tail_b = "/".join(pa[-n:]), "/".join(pb[-n:])
                if tail_a != tail_b and (n > 1 or tail_a.count(".") and sum(p.endswith("/" + tail_a) for p in self.files) <= 1):
                    self.moved_text.append((re.compile(r"(?<![\w-])(?<!\w/)" + re.escape(tail_a) + r"(?![\w-])"), tail_b))
            # Programs of tests and examples are named by their file.
            if len(pa) >= 2 and pa[-2] in ("tests", "examples") and a.endswith(".rs"):
                o, n = pa[-1][:-3], pb[-1][:-3]
                self.moved_text.append((re.compile(r"(--(?:test|example)[ =]|--test\s+)" + re.escape(o) + r"\b"), lambda m, n=n: m.group(1) + n))
                self.moved_text.append((re.compile(r'(name\s*=\s*)"' + re.escape(o) + r'"'), lambda m, n=n: m.group(1) + '"' + n + '"'))
        self.moved_text.sort(key=lambda x: -len(x[0].pattern))

    def run(self, dry, force):
        self.plan_moves()
        after, texts = {}, []
        for path in self.files:
            if not path.endswith((".rs", ".md", ".toml")) and path not in (".ci/run", "fuzz/run"):
                continue
            if any(fnmatch.fnmatch(path, g) for g in LEFT_ALONE):
                continue
            file = File(self, path)
            new = file.new()
            if new != file.old:
                after[path] = new
            texts.append((path, file))
        self.collisions(texts)
        for path, new in sorted(after.items()):
            pass
        print("%d files change, %d move" % (len(after), len(self.moves)))
        if self.problems:
            print("\n".join(self.problems))
            if not force and not dry:
                sys.exit("nothing was written: solve these, list them in ALLOWED, or --force")
        if dry:
            for a, b in self.moves:
                print("  mv", a, b)
            return after
        for path, new in after.items():
            with open(os.path.join(self.root, path), "w", encoding="utf-8") as f:
                f.write(new)
        for a, b in self.moves:
            os.makedirs(os.path.dirname(os.path.join(self.root, b)), exist_ok=True)
            subprocess.check_call(["git", "-C", self.root, "mv", a, b])
        return after

    def collisions(self, texts):
        """A new name that the file has already, beside the old one."""
        for path, file in texts:
            if not file.rust:
                continue
            names = {t for k, t in lex(file.old) if k == "name"}
            for old, new in self.renamed.get(path, {}).items():
                if new in names and old in names:
                    if (new in ALLOWED) or (path.split("/")[-1], new) in ALLOWED:
                        continue
                    self.problems.append("%s: %s becomes %s, which is there already" % (path, old, new))

def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    only = ""
    if "--only" in sys.argv:
        only = sys.argv[sys.argv.index("--only") + 1]; args.remove(only)
    if len(args) != 1:
        sys.exit(__doc__)
    Tree(args[0], only).run("--dry" in sys.argv, "--force" in sys.argv)

if __name__ == "__main__":
    main()
