/* 1Paxos at one index: leader and acceptor change through a configuration log with compare-and-append, members restart,
 * and acceptors keep their state. It is written independently of the Rust code, by the rules in docs/consensus.md.
 *
 * A message that was ever sent stays and may be received at any time, any number of times or never. Values are 1 and 2; 0 is
 * none. MUTANT breaks a rule:
 *
 *   1  an acceptor change carries nothing
 *   2  a new leader ignores what the acceptor reports
 *   3  the acceptor accepts whatever the ballot
 *   4  the log appends without comparing positions
 *   5  a new leader ignores what the last entry carries
 *
 * spin -a onepaxos.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef POSITIONS
#define POSITIONS 4
#endif

#define MEMBERS 3
#define ENTRIES 5
#define FOLLOWER 0
#define CAMPAIGNING 1
#define PREPARING 2
#define LEADING 3
#define CHANGING 4

/* The configuration log; position 1 makes 0 the leader and 1 the acceptor. */
byte last = 1;
byte leader[ENTRIES];
byte acceptor[ENTRIES];
byte carried[ENTRIES];

/* Members. */
byte view[MEMBERS] = 1;
byte role[MEMBERS];
byte sent[MEMBERS];
byte wanted[MEMBERS];
byte restarts = 1;
byte proposed = 0;

/* Acceptors. */
byte promised[MEMBERS];
byte accepted[MEMBERS];

/* Messages: of each ballot, to or from the acceptor of its entry. */
bool prepare[ENTRIES];
bool promise[ENTRIES];
byte reported[ENTRIES];
bool accept1[ENTRIES];
bool accept2[ENTRIES];
/* To whom they went, which without compare-and-append is not in the log. */
byte whom[ENTRIES];

/* What an acceptor has told that it was chosen. */
byte chosen = 0;

inline send_accept(ballot, value, to) {
  if
  :: value == 1 -> accept1[ballot] = true
  :: value == 2 -> accept2[ballot] = true
  :: else
  fi;
  whom[ballot] = to
}

inline receive_accept(ballot, value) {
  a = whom[ballot];
  if
  :: ballot >= promised[a] || MUTANT == 3 ->
    promised[a] = ballot;
    accepted[a] = value;
    assert(chosen == 0 || chosen == value);
    chosen = value
  :: else
  fi
}

proctype Member(byte me) {
  byte p;
  do
  /* Looks at the log. */
  :: atomic { view[me] < last -> view[me] = last; role[me] = FOLLOWER; sent[me] = 0 }
  /* Wants to lead. */
  :: atomic {
      role[me] == FOLLOWER && last < POSITIONS && acceptor[view[me]] != me ->
      role[me] = CAMPAIGNING
    }
  :: atomic {
      role[me] == CAMPAIGNING && last < POSITIONS ->
      if
      :: last == view[me] || MUTANT == 4 ->
        p = view[me];
        last++;
        leader[last] = me;
        acceptor[last] = acceptor[p];
        carried[last] = carried[p];
        view[me] = p + 1;
        whom[p + 1] = acceptor[p];
        role[me] = PREPARING;
        prepare[p + 1] = true
      :: else -> role[me] = FOLLOWER; view[me] = last
      fi;
      p = 0
    }
  /* The acceptor has answered: what it reports wins over what was carried. */
  :: atomic {
      role[me] == PREPARING && promise[view[me]] ->
      p = view[me];
      sent[me] = (MUTANT == 5 -> 0 : carried[p]);
      if
      :: reported[p] != 0 && MUTANT != 2 -> sent[me] = reported[p]
      :: else
      fi;
      send_accept(p, sent[me], acceptor[p]);
      role[me] = LEADING;
      p = 0
    }
  :: atomic {
      role[me] == LEADING && sent[me] == 0 && proposed < 2 ->
      proposed++;
      sent[me] = proposed;
      send_accept(view[me], proposed, acceptor[view[me]])
    }
  /* Changes the acceptor. */
  :: atomic {
      role[me] == LEADING && last < POSITIONS ->
      if
      :: me != 0 && acceptor[view[me]] != 0 -> wanted[me] = 0
      :: me != 1 && acceptor[view[me]] != 1 -> wanted[me] = 1
      :: me != 2 && acceptor[view[me]] != 2 -> wanted[me] = 2
      fi;
      role[me] = CHANGING
    }
  :: atomic {
      role[me] == CHANGING && last < POSITIONS ->
      if
      :: last == view[me] || MUTANT == 4 ->
        last++;
        leader[last] = me;
        acceptor[last] = wanted[me];
        carried[last] = (MUTANT == 1 -> 0 : sent[me]);
        view[me] = view[me] + 1;
        send_accept(view[me], sent[me], wanted[me]);
        role[me] = LEADING
      :: else -> role[me] = FOLLOWER; view[me] = last; sent[me] = 0
      fi;
      wanted[me] = 0
    }
  /* Restarts: all is forgotten but what the acceptor keeps. */
  :: atomic { restarts > 0 -> restarts--; role[me] = FOLLOWER; view[me] = 1; sent[me] = 0; wanted[me] = 0 }
  :: atomic { last == POSITIONS && timeout -> break }
  od
}

proctype Network() {
  byte b;
  byte a;
  do
  :: atomic { b < ENTRIES - 1 -> b++ }
  :: atomic { b > 1 -> b-- }
  :: atomic {
      b > 0 && prepare[b] && !promise[b] && b >= promised[whom[b]] ->
      promised[whom[b]] = b;
      promise[b] = true;
      reported[b] = accepted[whom[b]]
    }
  :: atomic { b > 0 && accept1[b] -> receive_accept(b, 1); a = 0 }
  :: atomic { b > 0 && accept2[b] -> receive_accept(b, 2); a = 0 }
  od
}

init {
  atomic {
    leader[1] = 0;
    acceptor[1] = 1;
    whom[1] = 1;
    role[0] = LEADING;
    run Member(0);
    run Member(1);
    run Member(2);
    run Network()
  }
}
