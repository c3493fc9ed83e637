# The table of renames. Read by rename.py; edit here.
# `where` takes crate names (an old name means all of its successors, too) or globs.

# Files that keep their words: records of measurements quote commands and programs of their day.
LEFT_ALONE = ["benches/records/*", "CHANGELOG.md", "docs/glossary.md", "fuzz/corpus/*", "target/*", "docs/measurements/*", "tests/tidy.rs"]
# Capitalised words that are types even where prose could begin with them.
PROSE_TYPES = {"Governor", "Diary", "Fragments"}
# New names that may stand beside the old ones: (file, name) or name.
ALLOWED = {
    "check", "candidates", "round", "rounds", "pipeline", "request", "requests", "local", "remote",
    ("gnu.rs", "cancel"), "oversubscribed", ("judge.rs", "test"), ("check.rs", "test"), ("synthetic.rs", "test"), ("wires.rs", "ring"), ("reader.rs", "ring"),
    "segment", "placement", "placements", "protocol", "endpoint", "header", "server", "call",
}

COLL = at("coll")
WIRE = at("wire")

# ---- what a rank does, written for the others: OSHMEM and MUST call it operation or call history --------
section("diary", names="""
    Diary > OpHistory, diary > history, diaries > histories, lane_diaries > context_histories
    a_diary_never_mixes_entries > a_history_never_mixes_entries
    page_at > entry_at, PAGES > HISTORY_LEN""",
    modules="diary > op_history",
    nouns="diary/diaries > operation history/operation histories")
section("log", COLL, unless=at("crates/*/src/operator/*"), has=r"\bLog\b|\blog\b(?!\()",
    names="Log > OpTracker, log > tracker", modules="log > op_tracker", nouns="log/- > operation tracker")
section("keeper's book", at("{coll}/src/process/keeper*", "{coll}/src/keeper*"), names="Book > WatchList, BOOK > WATCH_LIST, book > watch_list",
    nouns="book/books > watch list/watch lists")
section("book", COLL, names="Pen > CallSiteWriter, pen > site_writer, Book > CallSiteTable, book > site_table, books > site_tables",
    modules="book > call_sites", nouns="book/books > call-site table/call-site tables, pen/pens > call-site writer/call-site writers")

# ---- a team's parts ------------------------------------------------------------------------------------
section("board", COLL, names="Board > TeamState, board > state, Between > CrossProcess", modules="board > team_state",
    nouns="board/boards > team state/team states")
section("frame", at("coll"), unless=at("*/draw/*"), has=r"\bFrame\b|\bframe\b", names="""
    Frame > TeamMemory, frame > team_memory, of_frame > of_memory
    Sizes > MemorySizes, Where > MemoryKind""", modules="frame > team_memory", nouns="frame/frames > team memory/team memories")
section("tables", COLL, has=r"\bTables\b|lane\.tables|fabric, tables|tables\.(keeps_order|mesh|nodes|near)",
    unless=at("crates/*/src/algorithms/*"), names="Tables > RankSchedule, tables > schedule",
    prose=[(r"\bits tables\b", "its schedule")])
section("lane", COLL, unless=at("crates/*/src/operator/*", "crates/*/tests/operators.rs"), names="""
    Lane > OpContext, lane > context, lanes > contexts""",
    modules="lane > op_context", nouns="lane/lanes > operation context/operation contexts")
section("lane prose", at("README.md", "ARCHITECTURE.md", "corecast", "docs/algorithms.md"),
    nouns="lane/lanes > operation context/operation contexts, frame/frames > team memory/team memories")
section("part", at("{coll}/src/barrier/*"), names="Part > BarrierSchedule, Ways > GroupSchedule, ways > schedule", modules="part > schedule")
section("ways in the model", at("crates/sim/src/symbolic/*", "crates/sim/tests/*", "{coll}/tests/*", "{coll}/src/*", "crates/validation/*"), has=r"barrier::(\{[^}]*)?Ways|coll::barrier[^;]*\bWays\b", names="Ways > GroupSchedule")
section("party's part", COLL, has=r"struct Part \{\s*front", names="Part > Assembly, part > assembly")
section("barrier::Part", code=[(r"\bbarrier::Part\b", "barrier::BarrierSchedule")])
section("way of groups", at("{coll}/src/broadcast/*"), code=[
    (r"Some\(way\) if data", "Some(route) if data"), (r"groups\(&mut (\w+)\.fabric, way,", r"groups(&mut \1.fabric, route,"),
    (r"\(fabric, way\) = \(([^;]*)fan_out", r"(fabric, route) = (\1fan_out"), (r"groups\(fabric, way,", "groups(fabric, route,")])
section("way of groups, file", at("{coll}/src/broadcast/groups.rs"), names="way > route")
section("way", COLL, unless=at("*/fragments.rs", "*/pipeline.rs"), has=r"\bWay\b", names="Way > TransferProtocol, way > protocol")
section("Way elsewhere", at("sim", "bench", "corecast"), unless=at("crates/sim/src/streams/*"), has=r"corecast_(coll|transfer|collectives)::[^;]*\bWay\b", names="Way > TransferProtocol")
section("mark", COLL, has=r"\bMark\b|\.mark\b|\bmark\b", names="""
    Mark > OpFingerprint, mark > fingerprint, marks > fingerprints
    marks_tell_their_number_and_their_history > fingerprints_tell_their_number_and_their_history""",
    nouns="mark/marks > fingerprint/fingerprints")
section("did", at("coll", "bindings/*", "adapters/*", "corecast"), has=r"\bDid\b|\bdid(_at)?\(|\.did\b|\bdid\b[|,:.]", names="""
    Did > RankActivity, did > activity, did_at > activity_at, read_did > read_activity, write_did > write_activity""")
section("here of failures", at("coll", "bindings/*", "corecast"), has=r"\bDid\b|Failure::(Mismatch|Length|Spoilt|PeerLost|NeverJoined|Stalled) \{[^}]*\b(here|there)\b|\bhere: \w*Did|let \(here, there\)",
    unless=at("*/hardware.rs", "*/hardware/*"), names="here > local, there > remote, Here > Local, There > Remote")
section("Site", at("coll", "bindings/*", "adapters/*", "corecast"), code=[(r"\bSite::Here\b", "Site::Local"), (r"\bSite::There\b", "Site::Remote")])
section("here", COLL, has=r"(?<!Site::)\bHere\b|fabric\.here\b|self\.here\.|\.here\.lane_diaries|&self\.here\b",
    names="Here > CallContext, here > call")

# ---- processes -----------------------------------------------------------------------------------------
section("front", COLL, has=r"\bFront(Error)?\b|\bfront\b", unless=at("*/tests/common/*"), names="""
    Front > SegmentHeader, FrontError > SegmentHeaderError, front > header
    a_front_says_what_does_not_fit > a_header_says_what_does_not_fit""",
    modules="front > segment_header", nouns="front/fronts > segment header/segment headers")
section("front elsewhere", unless=["crates/plan/*"], names="FrontError > SegmentHeaderError")
section("front prose", at("ARCHITECTURE.md", "README.md"), prose=[(r"\b(its|the) front\b", r"\1 segment header"), (r"\bA front's\b", "A segment header's"), (r"\ba front's\b", "a segment header's")])
section("keeper", names="keepers > monitors", modules="keeper > peer_monitor", nouns="keeper/keepers > peer monitor/peer monitors")
section("party", names="Party > ProcessGroup, party > process_group", modules="party > process_group", nouns="party/parties > process group/process groups")
section("founder", nouns="founder/founders > creator/creators")
section("host", COLL, names="""
    HostGuard > RendezvousServer, HostGone > ServerGone, host > server, _host > _server
    a_host_that_is_stopped_is_an_error_within_the_limit > a_server_that_is_stopped_is_an_error_within_the_limit
    garbage_and_silence_neither_stop_nor_end_the_host > garbage_and_silence_neither_stop_nor_end_the_server
    of_those_who_come_at_once_exactly_one_hosts > of_those_who_come_at_once_exactly_one_serves
    whoever_comes_takes_over_from_hosts_that_are_killed_at_any_point > whoever_comes_takes_over_from_servers_that_are_killed_at_any_point
    Door > Server, Life > ProcessStat""", modules="host > rendezvous_server, life > process_stat",
    code=[(r"process_stat::process_stat;", "process_stat::life;")],
    nouns="host/hosts > rendezvous server/rendezvous servers")
section("host prose", at("ARCHITECTURE.md"), prose=[(r"goes with its host\b", "goes with its rendezvous server"), (r"\bdead hosts\b", "dead rendezvous servers")])
section("reach", at("coll", "corecast", "bindings/*"), has=r"\bReach(es)?\b|\breaches\b|\.reach\(|mod reach|fn reach\b", names="""
    Reach > TransferPath, Reaches > TransferPaths, reaches > paths""", modules="reach > transfer_path",
    code=[(r"\bfn reach\(&mut self", "fn open_kernel_copy(&mut self"), (r"\.reach\((?=processes|&?\w+, )", ".open_kernel_copy("),
        (r"\bfn reach\(&self, rank", "fn transfer_path(&self, rank"), (r"\.reach\((?=\w+\))", ".transfer_path("), (r"\blet reach = ", "let path = "), (r"\breach\.to_string\(\)", "path.to_string()")])

# ---- waiting -------------------------------------------------------------------------------------------
section("governor", unless=at("cli", "machine", "docs/doctor.md"), names="""
    Governor > WaitStrategy, governor > wait_strategy, governors > wait_strategies""",
    nouns="governor/governors > wait strategy/wait strategies")
section("policy", names="Policy > WaitConfig, with_policy > with_wait_config, as_policy > as_wait_config")
section("policy, variables", unless=["crates/corecast/src/waits.rs", "crates/corecast/src/explanation.rs", "crates/corecast/tests/*", "crates/corecast/src/builder/planned.rs", "crates/bench/src/peers/*"],
    names="policy > wait_config, policies > wait_configs", code=[(r"\bwaits\.wait_config\b", "waits.policy")])
section("policy, tests of the facade", ["crates/corecast/tests/*"], code=[(r"\.policy\(WaitConfig", ".wait_config(WaitConfig"), (r"\.policy\(Policy", ".wait_config(WaitConfig")])
section("bed", WIRE, names="Bed > FutexWord, bed > futex_word")
section("stamp", at("wire", "coll", "adapters/*"), has=r"fork::(\{[^}]*)?Stamp|forked_since|struct Stamp|\.stamp\(\)|\bstamp: Stamp", unless=at("*/gauge/*"), names="Stamp > ForkDetector, stamp > fork_detector")

# ---- lines of groups -----------------------------------------------------------------------------------
section("orders of rings", at("crates/wire/src/sync.rs"), names="notice > observe_ring, post > publish_ring, PostRelaxed > RingPublishRelaxed")
section("orders of rings, reader", at("{wire}/src/notice/*"), code=[(r"\border::ring\(\)", "order::observe_ring()"), (r"\border::publish\(\)", "order::publish_ring()")])
section("notice", at("wire", "coll", "sim", "tune"), names="""
    NOTICE_SLOTS > RING_SLOTS, NOTICE_PAYLOAD_BYTES > RING_PAYLOAD_BYTES, NOTICES > RING_SLOTS
    Notice > BroadcastRing, notice > ring, notices > rings, long_notice > long_ring, notice_of > ring_of, Noticed > RingMessage
    notices_are_read_before_they_are_written_again > rings_are_read_before_they_are_written_again
    NoticeRelaxed > RingReadRelaxed""",
    modules="notice > broadcast_ring",
    prose=[(r"\bnotices (and|or|,)", r"broadcast rings \1"), (r"\b([Aa]|[Tt]he|[Ee]very|[Ee]ach|of|another|such a) notice\b(?! (that|whether|when))", r"\1 broadcast ring"), (r"\bnotice's\b", "broadcast ring's"),
        (r"\b(of|and|as|by) notices\b", r"\1 broadcast rings"), (r"\bNotices are\b", "Broadcast rings are"), (r"\bnotice \((\d|CLa)", r"broadcast ring (\1"), (r"\| notice \|", "| broadcast ring |")])
section("notice prose", at("ARCHITECTURE.md", "crates/wire/README.md", "docs/algorithms.md", "docs/simulator.md", "docs/symbolic.md"), prose=[
    (r"\b[Nn]otices are given back\b", "Broadcast rings are given back"), (r"\b([Aa]|[Tt]he|[Ee]very|[Ee]ach|of|another) notice\b(?! (that|whether|when))", r"\1 broadcast ring"), (r"\b(of|and|as|by|queues,) notices\b", r"\1 broadcast rings"), (r"\bnotice's\b", "broadcast ring's")])
section("tally of the choice", at("corecast"), names="Tally > SearchCounts, tally > search_counts")
section("tally of examples", at("crates/sim/examples/*"), names="Tally > Totals, tally > totals")
section("tally", at("wire", "coll", "sim"), names="""
    Tally > ArrivalCounter, tally > counter, tallies > counters
    a_tally_publishes_what_all_did > a_counter_publishes_what_all_did""", modules="tally > arrival_counter",
    nouns="tally/tallies > arrival counter/arrival counters")
section("meeting of the engine", at("crates/sim/src/engine/*"), names="Meeting > Barrier")
section("meeting", at("wire", "coll", "sim"), names="""
    Meeting > CounterBarrier, meeting > counter_barrier, meetings > counter_barriers, wait_at_meeting > wait_at_counter_barrier
    a_meeting_publishes_what_all_did > a_counter_barrier_publishes_what_all_did
    nobody_sleeps_through_a_meeting > nobody_sleeps_through_a_counter_barrier""", modules="meeting > counter_barrier",
    prose=[(r"\b(a|an|the|each|every|one|another|of|at a|the other) meeting\b(?! each)", r"\1 counter barrier"), (r"\bmeetings\b(?! (up|each))", "counter barriers"), (r"\bMeetings\b", "Counter barriers"), (r"\| meeting \|", "| counter barrier |"), (r"\bmeeting's\b", "counter barrier's"), (r"\bmeeting number\b", "counter barrier number"), (r"\bother meeting\b", "other counter barrier")])
section("meeting of applications", at("bench", "cli"), names="Meeting > SyncBackend, meetings > barrier_floors",
    nouns="meeting/meetings > synchronisation backend/synchronisation backends")
section("meeting of applications, variables", at("bench"), names="meeting > backend")
section("gate", at("wire", "corecast"), names="Gate > PhaseBarrier, gate > phase_barrier", modules="gate > phase_barrier",
    nouns="gate/gates > phase barrier/phase barriers")
section("post", at("wire", "coll", "sim"), has=r"\bpost|Post|POST", names="""
    post > publish, posts > publishes, posted > published, Post > Publish, PostRelaxed > RingPublishRelaxed
    post_bytes > publish_bytes, post_bytes_max > publish_bytes_max, post_line > publish_line, has_posts > has_rings
    long_posts_of > long_ring_of, run_posts > run_published, unasked_posted > unasked_published
    POSTED_CROWDED_MAX > PUBLISHED_OVERSUBSCRIBED_MAX, POSTED_BY_ADDRESS_MAX > PUBLISHED_BY_ADDRESS_MAX
    every_reader_gets_every_post_however_anybody_waits > every_reader_gets_every_message_however_anybody_waits
    posts_are_left_to_those_who_have_them > rings_are_left_to_those_who_have_them""")
section("post, constants", at("tune"), names="POST_BYTES > PUBLISH_BYTES")
section("post prose", at("wire", "coll", "sim", "ARCHITECTURE.md", "docs/algorithms.md", "docs/simulator.md", "docs/symbolic.md"), prose=[
    (r"\b(that one|that it|who|one|rank|it|they|writer|root|parent|team) posts\b(?! (are|have|flow|with|of|from))", r"\1 publishes"), (r"\bposts on\b", "publishes on"), (r"\bpost on\b", "publish on"), (r"\bposted\b", "published"),
    (r"\b(a|the|each|every|next|one|long|longest|of|that|another|its|this) post\b", r"\1 published message"), (r"\b(in|of|as|by|for|with|all|earlier|such|long|longer|sixteen|eight|several|these|and|where) posts\b", r"\1 published messages"), (r"\bPosts\b", "Published messages"), (r"\bposts (are|have|flow|with|of|from|behind|ahead|each)\b", r"published messages \1")])
section("meet", at("wire", "coll", "sim"), names="meet > arrive_and_wait, Meet > BarrierEnd, meets > barrier_ends, meet_at_line > arrive_at_line")
section("own", at("wire", "coll", "sim"), code=[(r"\bfn own<", "fn view_mut<"), (r"\.own\(\s*(?=\w+(\.\w+)*,)", ".view_mut("), (r"\b(Desk|Endpoint|Fabric|Self)::own\b", r"\1::view_mut")])
section("settle", at("wire", "coll", "sim"), names="settle > flush")

# ---- long data -----------------------------------------------------------------------------------------
section("desk", at("wire", "coll", "sim"), names="""
    Desk > Endpoint, desk > endpoint, OneDesk > OneEndpoint, a_desk > a_endpoint, b_desk > b_endpoint, desk_token > endpoint_token
    wait_at_desk > wait_at_endpoint, a_window_belongs_to_its_desk > a_window_belongs_to_its_endpoint""", modules="desk > endpoint",
    nouns="desk/desks > endpoint/endpoints", text=[(r"\ba desk\b", "an endpoint"), (r"\b(the|its|another) desk\b", r"\1 endpoint")])
section("desk prose", at("ARCHITECTURE.md", "README.md", "docs/algorithms.md"), nouns="desk/desks > endpoint/endpoints")
section("offer", at("wire"), names="""
    Offer > Descriptor, OFFERS > DESCRIPTORS, offer > descriptor, offers > descriptors, OfferRelaxed > DescriptorRelaxed, offer_token > descriptor_token
    OfferedAgain > ExposedAgain, Said > DescriptorFields
    Returns > Acks, returns > acks, relax_returns > relax_acks, return_token > ack_token, wait_for_return > wait_for_ack
    odd_offers_name_bytes_of_the_outbox_or_nothing > odd_descriptors_name_bytes_of_the_bounce_buffer_or_nothing
    odd_counts_of_returns_spoil_no_books > odd_counts_of_acks_corrupt_no_books""", modules="offer > descriptor",
    code=[(r"\bfn descriptor\(&mut self, (tag|said|fields)", r"fn offer(&mut self, \1"), (r"\.descriptor\((?=said|tag|DescriptorFields|Said|1|2|3|number)", ".offer(")],
    prose=[(r"\b([Aa]n|[Tt]he|[Ee]ach|[Ee]very|[Tt]his|next|of|one more|another|single|peer's next|which) offer\b", lambda m: {"an": "a", "An": "A"}.get(m.group(1), m.group(1)) + " descriptor"), (r"\boffer's\b", "descriptor's"), (r"\b(of|all|how many|standing|lines of|their|the|many|whose) offers\b", r"\1 descriptors"), (r"^Offers\b", "Descriptors"), (r"\ban address is only offered\b", "an address is only exposed")])
section("offer elsewhere", at("coll", "sim"), names="OFFERS > DESCRIPTORS, Offer > Descriptor, offers > descriptors, offer > descriptor, wait_for_return > wait_for_ack")
section("outbox", names="""
    Outbox > BounceBuffer, Outboxes > BounceBuffers, OutboxMemory > BounceMemory, OutboxLine > BounceLine
    outbox > bounce_buffer, outboxes > bounce_buffers, outbox_bytes > bounce_bytes, OUTBOX_BYTES > BOUNCE_BYTES
    a_refused_reader_gets_the_rest_through_the_outbox > a_refused_reader_gets_the_rest_through_the_bounce_buffer""",
    modules="outbox > bounce_buffer", nouns="outbox/outboxes > bounce buffer/bounce buffers", text=[(r"\b([Aa])n outbox\b", r"\1 bounce buffer"), (r"\boutbox\b", "bounce buffer"), (r"\boutboxes\b", "bounce buffers")])
section("shelf", names="Shelf > EagerBuffer, shelf > eager_buffer, shelf_chunk > eager_chunk", pieces="shelf > eager",
    modules="shelf > eager_buffer", nouns="shelf/shelves > eager buffer/eager buffers")
section("far", at("wire", "coll"), has=r"\bfar(_from)?\b|is_far|_far\b|\bFar\b", names="""
    is_far > is_by_kernel, lend_far_from > lend_by_kernel_from, far_from > kernel_copy_from, read_far > read_by_kernel, revoke_far > revoke_by_kernel
    fetch_far > fetch_by_kernel, Far > KernelCopy, far > kernel_copy
    a_far_loan_is_read_whole_or_not_believed > a_kernel_copied_loan_is_read_whole_or_not_believed
    far_loans_are_read_before_they_are_written_again > kernel_copied_loans_are_read_before_they_are_written_again""", modules="far > cma")
section("staged", WIRE, names="Staged > PipelinedCopy, staged > pipelined", modules="staged > pipelined")
section("bulk host", WIRE, has=r"\bHost\b", names="Host > HasEndpoint, host > owner")
section("Host elsewhere", COLL, has=r"corecast_(wire|transfer)[^;]*\bHost\b", names="Host > HasEndpoint")
section("grain of plan", at("plan"), names="Grains > TimeSteps, grain > time_step, grains > time_steps, GRAINS_MAX > TIME_STEPS_MAX, GRAINS_MIN > TIME_STEPS_MIN", modules="grain > time_step",
    nouns="grain/grains > time step/time steps")
section("grain", at("wire", "coll", "sim", "bindings/*"), unless=at("crates/sim/src/streams/*", "*/farm.rs", "crates/validation/src/streams/*"), names="grain > element_size, grain_line > element_line")
section("fragments", at("wire", "coll", "sim", "corecast", "tune", "bench"), names="""
    Fragments > PipelineSegments, fragments > pipeline, SCRATCH_FRAGMENTS > SCRATCH_SEGMENTS
    fragments_cover_the_data_in_whole_elements > pipeline_segments_cover_the_data_in_whole_elements""", modules="fragments > pipeline",
    nouns="fragment/fragments > pipeline segment/pipeline segments")
section("fragments prose", at("*.md"), nouns="fragment/fragments > pipeline segment/pipeline segments")
section("each", COLL, has=r"\bEach\b", names="Each > Consume, each > consume")
section("keep", COLL, names="Keep > CopyInto, KEEP_BYTES > COPY_INTO_BYTES")
section("brackets", at("coll", "sim", "corecast"), names="""
    Brackets > ReductionOrder, brackets > order
    brackets_and_sides_do_not_matter_where_that_is_promised > order_and_sides_do_not_matter_where_that_is_promised
    brackets_are_those_of_the_ordered_tree > the_order_is_that_of_the_ordered_tree
    brackets_depend_on_the_number_of_ranks_alone > the_order_depends_on_the_number_of_ranks_alone""", modules="brackets > reduction_order",
    prose=[(r"\bthe same brackets each time\b", "the same order of reduction each time"), (r"\b(sets?) the brackets\b", r"\1 the order of reduction"), (r"\bsets its brackets\b", "sets its order"), (r"\b(its|their|the|whose|of|fix the) brackets\b", r"\1 order of reduction"), (r"\bbrackets\b(?! (count|in its))", "order of reduction")])
section("brackets prose", at("*.md"), prose=[(r"\b(its|their|the|whose|of) brackets\b", r"\1 order of reduction")])

# ---- wishes and places ---------------------------------------------------------------------------------
section("wish of the tuner", at("tune", "cli"), has=r"corecast_tune::tuner|struct Wish \{\s*/// Which operations|tuner::(\{[^}]*)?Wish", names="Wish > TuneRequest, wish > request",
    prose=[(r"\bwishes of\b", "requests of")])
section("wish of the tuner, rest", at("tune"), names="Wish > TuneRequest, wish > request", nouns="wish/wishes > request/requests")
section("wish of plans", at("crates/cli/src/commands/plan*"), names="Wish > PlanRequest, wish > request")
section("wish of choices", at("corecast", "cli", "bindings/*", "bench"), has=r"\bWish\b|\bwish\b", unless=at("crates/corecast/src/rules.rs", "crates/cli/tests/*"), names="Wish > Preferences, wish > preferences",
    code=[(r"\bDecidedBy::Preferences\b", "DecidedBy::User")], nouns="wish/wishes > preference/preferences")
section("DecidedBy", at("crates/corecast/src/choose.rs"), code=[(r'(pub enum DecidedBy \{\s*/// The user\.\s*(?:#\[serde\(rename = "\w+"\)\]\s*)?)Preferences,', r"\1User,")])
section("DecidedBy, uses", at("corecast", "cli"), code=[(r"\bDecidedBy::Wish\b", "DecidedBy::User")])
section("wish of algorithms", EVERYWHERE, names="WishError > SelectionError, wishes_are_heard > preferences_are_heard")
section("wish of the rest", at("coll", "wire", "bindings/*"), names="wish > requested, wishes > requests, Wish > Request2",
    text=[(r"\bis no wish\b", "is no request")], nouns="wish/wishes > request/requests",
    code=[(r"RendezvousError::Request2\b", "RendezvousError::Unusable"), (r"\bTextError::Request2\b", "TextError::Selection")])
section("Wish variants", at("{coll}/src/*"), code=[(r"\bRequest2\(#\[from\]", "Selection(#[from]"), (r"(\n\s*)Request2 \{", r"\1Unusable {")])
section("is no wish", at("cli", "corecast", "bindings/*", "adapters/*"), text=[(r"\bis no wish\b", "is no request")])
section("seat of fibers", WIRE, has=r"\bSeat\b", names="Seat > FiberSlot, seat > slot, seats > slots", nouns="seat/seats > slot/slots")
section("seat of overlap", COLL, has=r"\bSeat\b", names="Seat > ContextSlot, seat > slot, seats > slots", nouns="seat/seats > slot/slots")
section("seat of the model", at("sim"), names="Seats > RankPlacement, seats > placement, least_seats > least_placement, seats_are_as_many_as_ranks > a_place_for_each_rank", modules="seats > rank_placement",
    nouns="seat/seats > place/places")
section("seat of the probe", at("probe"), names="Seat > PinnedEnd, seat > pinned_end", modules="seat > pinned_end")
section("seat of races", at("bench", "tune", "cli", "benches/*"), names="""
    Seat > CpuPlacement, seat > placement, seats > placements, NoSeats > NoPlacements
    a_race_without_entrants_or_seats_is_refused > a_race_without_entrants_or_placements_is_refused, seats_are_dealt_round > placements_are_dealt_round""",
    modules="seat > cpu_placement", nouns="seat/seats > placement/placements")
section("seat of the facade", at("corecast"), names="seat > rank_pu, seats > rank_pus", modules="seats > cpu_placement", nouns="seat/seats > PU/PUs")
section("seat of plans", at("cli", "bench"), code=[(r"\b(planned|draft)\.placements\b", r"\1.rank_pus")])
section("homes of the facade", at("corecast", "cli"), names="Homes > NumaPlacement, homes > numa_placement", modules="homes > numa_placement")
section("homes of ranks", COLL, has=r"\bhomes?\b", unless=at("*/groups.rs"), names="home > rank_segment, homes > rank_segments")
section("crowded", names="""
    crowded > oversubscribed, is_crowded > is_oversubscribed, CROWDED > OVERSUBSCRIBED, CROWDED_FROM > OVERSUBSCRIBED_FROM""",
    pieces="crowded > oversubscribed", prose=[(r"\b([Cc])rowded\b", lambda m: ("O" if m.group(1) == "C" else "o") + "versubscribed")])

# ---- the tuner -----------------------------------------------------------------------------------------
section("field", at("tune", "crates/cli/src/commands/tune*"), names="Field > CandidateSet, field > candidate_set, of_field > of_candidates", modules="field > candidates",
    nouns="field/- > set of candidates")
section("menu", at("tune", "cli"), names="Menu > SearchSpace, menu > search_space", modules="menu > search_space", nouns="menu/menus > search space/search spaces")
section("judge of plans", at("crates/plan/tests/*", "fuzz/*"), names="Judge > Oracle, judge > oracle, judge_all > check_all, judge_claims > check_claims, judge_root > check_root, the_judge_is_awake > the_oracle_is_awake", modules="judge > oracle",
    nouns="judge/judges > oracle/oracles")
section("judge of races", at("bench"), names="judge > decide, run_judged > run_decided", nouns="judge/judges > decider/deciders")
section("judge", at("tune"), names="Judge > SequentialTest, judge > test", modules="judge > sequential_test", nouns="judge/judges > sequential test/sequential tests",
    code=[(r"\brun_judged\b", "run_decided")])
section("doubts", at("tune"), names="Doubt > Unconfirmed, Doubts > UnconfirmedRaces, doubt > unconfirmed, doubts > unconfirmed_races", modules="doubts > unconfirmed")
section("wealth", at("tune"), names="wealth > martingale", modules="wealth > betting_martingale", nouns="wealth/- > martingale")
section("heat", at("tune"), names="Heat > Replicate, heat > replicate, heats > replicates", pieces="heat > replicate, heats > replicates", nouns="heat/heats > replicate/replicates")
section("heat, text", at("crates/cli/src/commands/tune*", "docs/tuning.md", "crates/tune/README.md"), nouns="heat/heats > replicate/replicates, judge/judges > sequential test/sequential tests, menu/menus > search space/search spaces", text=[(r"time for all heats\b", "time for all replicates")])

# ---- the planner ---------------------------------------------------------------------------------------
section("prices", at("crates/plan/src/exact*", "crates/plan/src/best*"), names="""
    Price > Multiplier, Prices > Multipliers, price > multiplier, prices > multipliers, share_prices > share_multipliers""", modules="prices > multipliers",
    nouns="price/prices > multiplier/multipliers")
section("prices, limits", at("plan", "fuzz/*"), names="prices_first > multipliers_first, proofs_by_prices_end_at_the_optimum > proofs_by_multipliers_end_at_the_optimum, no_prices_give_more_than_the_optimum > no_multipliers_give_more_than_the_optimum")
section("ladder", at("plan"), unless=at("crates/plan/src/search/*"), names="""
    Ladder > RefinementChain, ladder > chain, ladders > chains, LADDER > CHAIN, best_of_ladder > best_of_chain, on_ladder > on_chain""", modules="ladder > refinement_chain",
    nouns="ladder/ladders > refinement chain/refinement chains")
section("turn", at("crates/plan/src/best*"), names="Turn > SearchRound, Turns > SearchRounds, turn > round, turns > rounds, FIRST_TURN > FIRST_ROUND, TURN > ROUND")
section("twin", names="""Twin > Reference, twin > reference""", modules="twin > reference", pieces="twin > reference, twins > references", nouns="twin/twins > reference/references",
    unless=at("crates/bench/src/*"))

# ---- ends and mistakes ---------------------------------------------------------------------------------
section("spoilt", names="Spoilt > Corrupt, spoilt > corrupt", pieces="spoilt > corrupt, spoil > corrupt", unless=at("crates/plan/tests/*"),
    prose=[(r"\bspoilt\b", "corrupt")], text=[(r"\bspoilt\b(?! \w)", "corrupt"), (r"\bhas spoilt\b", "has corrupted"), (r"\bspoilt\b", "corrupt")])
section("spoilt in tests of plans", at("crates/plan/tests/*"), names="spoilt > corrupted, spoil > corrupt")
section("called off", names="CalledOff > Cancelled, CALLED_OFF > CANCELLED, call_off > cancel",
    pieces="", prose=[(r"\bcalled off\b", "cancelled"), (r"\b([Cc])alls off\b", lambda m: m.group(1) + "ancels"), (r"\bcall off\b", "cancel"), (r"\[called the team's operations off\]", "[cancelled the team's operations]")],
    text=[(r"\bcalled off\b", "cancelled"), (r"\bcalled the team's operations off\b", "cancelled the team's operations")])
section("called off in tests", names="a_failure_goes_before_what_is_called_off > a_failure_goes_before_what_is_cancelled, called_off_from_the_next_operation_on > cancelled_from_the_next_operation_on")
section("run-time", prose=[(r"\b([Rr])un-time(s?)\b", r"\1untime\2")], names="""
    two_run_times_are_a_warning_also_of_the_same_kind > two_runtimes_are_a_warning_also_of_the_same_kind
    names_of_files_tell_run_times > names_of_files_tell_runtimes, run_times_that_are_opened_later_and_under_other_names > runtimes_that_are_opened_later_and_under_other_names
    a_region_that_the_run_time_starts_for_itself_stays_with_it > a_region_that_the_runtime_starts_for_itself_stays_with_it""")

# ---- measurements --------------------------------------------------------------------------------------
section("gauge", at("wire", "probe"), has=r"gauge", names="Field > LineBuffer, Doorbell > BareFutex", modules="gauge > microbench, doorbell > bare_futex")
section("gauge modules", at("wire"), modules="field > line_buffer", has=r"mod field|field::")
section("field of the probe", at("probe"), has=r"\bField\b|\bfield\b", names="field > lines_of, Field > LineBuffer, FIELD_BYTES > BUFFER_BYTES, field_bytes > buffer_bytes")
