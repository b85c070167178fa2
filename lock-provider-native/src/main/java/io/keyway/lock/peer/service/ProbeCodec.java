// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LockName;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import io.keyway.lock.spi.Probe;
import io.keyway.lock.spi.Probe.Edge;
import java.util.ArrayList;
import java.util.List;

/** Probes on the wire. */
final class ProbeCodec {
    private static final List<Probe.Kind> KINDS = List.of(Probe.Kind.values());

    /** Of an edge, with names of one byte. */
    private static final int LEAST_EDGE = 17;

    private ProbeCodec() {}

    static WireWriter write(Probe probe, WireWriter out) {
        out.u8(KINDS.indexOf(probe.kind()));
        agent(probe.initiator(), out).number(probe.priority()).number(probe.age());
        out.number(probe.round()).number(probe.step());
        out.number(probe.path().size());
        for (Edge edge : probe.path()) {
            agent(edge.waiter(), out).text(edge.owner()).text(edge.lock().toString());
            out.varint(edge.request())
                    .number(edge.waitedNanos())
                    .varint(edge.token())
                    .varint(edge.ahead());
        }
        return out;
    }

    static Probe read(WireReader in) throws WireException {
        int kind = in.u8();
        if (kind >= KINDS.size()) {
            throw new WireException("the kind " + kind + " of a probe");
        }
        Probe.Agent initiator = agent(in);
        int priority = LockFields.integer(in);
        int age = LockFields.integer(in);
        long round = in.number();
        int step = LockFields.integer(in);
        int count = in.count(Probe.MAX_EDGES, LEAST_EDGE);
        List<Edge> path = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            path.add(new Edge(
                    agent(in), in.text(Probe.MAX_OWNER), name(in), in.varint(), in.number(), in.varint(), in.varint()));
        }
        if (step >= count) {
            throw new WireException("edge " + step + " of a path of " + count);
        }
        return new Probe(KINDS.get(kind), initiator, priority, age, round, step, path);
    }

    private static WireWriter agent(Probe.Agent agent, WireWriter out) {
        return out.u64(agent.client()).number(agent.number());
    }

    private static Probe.Agent agent(WireReader in) throws WireException {
        return new Probe.Agent(in.u64(), in.number());
    }

    private static LockName name(WireReader in) throws WireException {
        String name = in.text(LockName.MAX_BYTES);
        try {
            return LockName.of(name);
        } catch (IllegalArgumentException e) {
            throw new WireException("not the name of a lock: " + e.getMessage());
        }
    }
}
