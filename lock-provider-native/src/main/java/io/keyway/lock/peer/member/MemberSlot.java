// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/** The bytes of one slot of a member file: 4,092 of content, big-endian, and their CRC32C. */
public final class MemberSlot {
    public static final int SIZE = 4096;

    private static final long MAGIC = 0x4b65797761794d46L; // "KeywayMF"
    private static final int FORMAT = 4;
    private static final String SEPARATOR = ",";
    private static final int CRC_AT = SIZE - Integer.BYTES;

    /** What a slot holds. */
    sealed interface Content {}

    /** Zeros: never written. */
    record Empty() implements Content {}

    /** Neither empty nor whole: half written, or damaged later. */
    record Broken() implements Content {}

    /** Whole, but of another format. */
    record OtherFormat(int format) implements Content {}

    /** Whole; the table of grants, if any, is still to be read. */
    public record Whole(StoredRecord stored, Table table) implements Content {}

    /** The table of grants behind the slots. */
    record Table(int count, int bytes, int crc) {
        static final Table NONE = new Table(0, 0, 0);
    }

    private MemberSlot() {}

    static byte[] encode(StoredRecord r, Table table) {
        ByteBuffer out = ByteBuffer.allocate(SIZE);
        out.putLong(MAGIC).putInt(FORMAT).putLong(r.sequence()).put(r.state().code());
        out.putLong(r.record().epoch())
                .putLong(r.record().largestTtlNanos())
                .putLong(r.record().horizonNanos())
                .put((byte) (r.record().listOpened() ? 1 : 0))
                .putLong(r.record().keptNanos());
        put(out, r.settings().cluster());
        put(out, r.settings().node());
        put(out, r.settings().lockFile());
        put(out, String.join(SEPARATOR, r.settings().members()));
        out.putLong(r.settings().listHash()).putLong(r.settings().settingsHash());
        out.putLong(r.settings().maxTtl().toNanos()).putInt(r.settings().algorithm());
        put(out, r.bootId());
        put(out, r.timeNamespace());
        out.putLong(r.inode()).putLong(r.bootNanos()).putLong(r.nanoTime()).putLong(r.wallMillis());
        out.putInt(table.count()).putInt(table.bytes()).putInt(table.crc());
        out.putInt(CRC_AT, crc(out.array(), CRC_AT));
        return out.array();
    }

    public static Content decode(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length != SIZE) {
            return new Broken();
        }
        if (Arrays.equals(bytes, new byte[SIZE])) {
            return new Empty();
        }
        if (in.getLong() != MAGIC || in.getInt(CRC_AT) != crc(bytes, CRC_AT)) {
            return new Broken();
        }
        int format = in.getInt();
        if (format != FORMAT) {
            return new OtherFormat(format);
        }
        try {
            return whole(in);
        } catch (BufferUnderflowException | IllegalArgumentException | DateTimeException e) {
            return new Broken(); // the sum is right and the content is not: not written by this code
        }
    }

    private static Content whole(ByteBuffer in) {
        long sequence = in.getLong();
        StoredRecord.State state = StoredRecord.State.of(in.get());
        MemberRecord record = new MemberRecord(in.getLong(), in.getLong(), in.getLong(), in.get() != 0, in.getLong());
        String cluster = text(in);
        String node = text(in);
        String lockFile = text(in);
        String list = text(in);
        MemberSettings settings = new MemberSettings(
                cluster,
                node,
                in.getLong(),
                in.getLong(),
                Duration.ofNanos(in.getLong()),
                in.getInt(),
                lockFile,
                list.isEmpty() ? List.of() : List.of(list.split(SEPARATOR, -1)));
        StoredRecord stored = new StoredRecord(
                sequence,
                state,
                record,
                settings,
                text(in),
                text(in),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                in.getLong(),
                List.of());
        return new Whole(stored, new Table(in.getInt(), in.getInt(), in.getInt()));
    }

    /** Joins grants into the bytes of a table. */
    static byte[] table(List<byte[]> grants) {
        long size =
                grants.stream().mapToLong(g -> Integer.BYTES + (long) g.length).sum();
        ByteBuffer out = ByteBuffer.allocate(Math.toIntExact(size));
        grants.forEach(grant -> out.putInt(grant.length).put(grant));
        return out.array();
    }

    /**
     * Splits the bytes of a table whose sum was right; an IllegalArgumentException if they are no table of that count.
     */
    static List<byte[]> grants(byte[] table, int count) {
        ByteBuffer in = ByteBuffer.wrap(table);
        List<byte[]> grants = new ArrayList<>();
        while (in.remaining() >= Integer.BYTES) {
            int length = in.getInt();
            if (length < 0 || length > in.remaining()) {
                throw new IllegalArgumentException("a grant of " + length + " bytes");
            }
            byte[] grant = new byte[length];
            in.get(grant);
            grants.add(grant);
        }
        if (in.hasRemaining() || grants.size() != count) {
            throw new IllegalArgumentException(grants.size() + " grants instead of " + count);
        }
        return List.copyOf(grants);
    }

    static int crc(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    private static void put(ByteBuffer out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.putShort((short) bytes.length).put(bytes);
    }

    private static String text(ByteBuffer in) {
        int length = in.getShort();
        if (length < 0 || length > in.remaining()) {
            throw new IllegalArgumentException("a text of " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
