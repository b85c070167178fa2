// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.wire.RecordCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The files of records of a member: none if its algorithm forces nothing, one for each cell where these elect each on
 * their own, since their machines have the same addresses; else one for all cells. They count together: if one of them
 * is lost, all are. One thread at a time, except for {@link #of}.
 */
public final class RecordFiles implements AutoCloseable {
    private static final String RECORDS = "records";

    /** A record that a former run has left, and the machine that it is of. */
    record Found(Key key, DurableRecord record) {}

    private final List<RecordFile> files;

    private RecordFiles(List<RecordFile> files) {
        this.files = files;
    }

    /** Of an algorithm that forces nothing. */
    static RecordFiles none() {
        return new RecordFiles(List.of());
    }

    /** One file, for all cells. */
    static RecordFiles of(RecordFile file) {
        return new RecordFiles(List.of(file));
    }

    /**
     * Opens the files beside that member file, as {@link RecordFile#open}.
     *
     * @param cells how many there are
     * @throws IOException if one of them cannot be used
     */
    static RecordFiles open(Algorithm algorithm, int cells, MemberFile file, MachineFacts facts) throws IOException {
        Optional<RecordCodec> codec = algorithm.records();
        if (codec.isEmpty()) {
            return none();
        }
        int count = algorithm.electsInEachCell() ? cells : 1;
        return open(first(file), count, codec.get(), facts, file.lost());
    }

    /** @param first the file of the first cell; the others have their numbers behind its name */
    static RecordFiles open(Path first, int count, RecordCodec codec, MachineFacts facts, Optional<String> lost)
            throws IOException {
        List<RecordFile> files = new ArrayList<>();
        RecordFiles opened = new RecordFiles(files);
        try {
            for (int i = 0; i < count; i++) {
                files.add(RecordFile.open(path(first, i), codec, facts, lost));
            }
            Optional<String> why = opened.lost();
            if (why.isPresent()) {
                // Before the member file makes the directory its own again: none may count if that is cut short.
                for (RecordFile file : files) {
                    file.lose(why.get());
                }
                for (int i = count; i < Membership.MAX_SHARDS; i++) {
                    Files.deleteIfExists(path(first, i)); // of a run with more cells
                }
            }
            return opened;
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /**
     * The lists of members by which the groups of a former run count, as the records beside that file say.
     *
     * @throws IOException if they cannot be read
     */
    public static Set<Set<String>> lists(Algorithm algorithm, MemberFile file, MachineFacts facts) throws IOException {
        Set<Set<String>> lists = new LinkedHashSet<>();
        Optional<RecordCodec> codec = algorithm.records();
        for (int i = 0; codec.isPresent() && i < Membership.MAX_SHARDS; i++) {
            for (DurableRecord record : RecordFile.look(path(first(file), i), codec.get(), facts)) {
                Set<String> members = new TreeSet<>(codec.get().members(record));
                if (!members.isEmpty()) {
                    lists.add(members);
                }
            }
        }
        return lists;
    }

    private static Path first(MemberFile file) {
        return file.path().resolveSibling(RECORDS);
    }

    private static Path path(Path first, int cell) {
        return cell == 0 ? first : first.resolveSibling(first.getFileName() + "-" + cell);
    }

    /** Why what a former run has forced is lost; empty if nothing of it is. */
    Optional<String> lost() {
        return files.stream().flatMap(file -> file.lost().stream()).findFirst();
    }

    /** As {@link RecordFile#counts}, of all of them. */
    void count() throws IOException {
        for (RecordFile file : files) {
            file.counts();
        }
    }

    private RecordFile file(int cell) {
        return files.get(files.size() == 1 ? 0 : cell);
    }

    /**
     * The last records of the machines of that cell, or of all cells where these have one file. On any thread.
     *
     * @throws IOException if they cannot be read
     */
    List<Found> of(int cell) throws IOException {
        List<Found> found = new ArrayList<>();
        if (!files.isEmpty()) {
            RecordFile file = file(cell);
            for (DurableRecord record : file.records()) {
                found.add(new Found(file.key(record), record));
            }
        }
        return found;
    }

    /**
     * Returns when all of them are on disk: those of one cell as one group.
     *
     * @param records by the numbers of their cells
     * @throws IOException as {@link RecordFile#force}; if the algorithm forces nothing, too
     */
    void force(Map<Integer, List<DurableRecord>> records) throws IOException {
        if (files.isEmpty() && !records.isEmpty()) {
            throw new IOException("the algorithm of this member says that it forces nothing, and forces " + records);
        } else if (files.size() == 1) {
            List<DurableRecord> all = new ArrayList<>();
            records.values().forEach(all::addAll);
            if (!all.isEmpty()) {
                files.get(0).force(all);
            }
            return;
        }
        for (Map.Entry<Integer, List<DurableRecord>> each : records.entrySet()) {
            file(each.getKey()).force(each.getValue());
        }
    }

    /** Closes all of them; writes nothing. */
    @Override
    public void close() throws IOException {
        for (RecordFile file : files) {
            file.close();
        }
    }
}
