// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.jute.InputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.MultiResponse;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.Create2Response;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;

/**
 * A handle that also knows calls whose answers are completed by the thread that receives them. ZooKeeper's own calls either
 * wait without a limit of time, or are answered on the thread of the session's events: one more change of threads.
 *
 * <p>Such an answer may overtake events that were received before it ({@link #isWatched}). It is to be waited for and not to be
 * followed up: the thread that receives has to go on receiving. {@code queuePacket} is a public method of ZooKeeper 3.9 that
 * its own calls are made of.
 */
final class Handle extends ZooKeeper {
    private static final byte[] NOTHING = {};

    private static final Record EMPTY = new Record() {
        @Override
        public void serialize(OutputArchive archive, String tag) {}

        @Override
        public void deserialize(InputArchive archive, String tag) {}
    };

    Handle(String servers, int timeoutMillis, Watcher watcher, HostProvider addresses, ZKClientConfig config)
            throws IOException {
        super(servers, timeoutMillis, watcher, false, addresses, config);
    }

    /**
     * Whether the watch of that node's data is in force. When its event is received it is taken out at once, and told later. So
     * if it was in force before a call, and is after its answer, nothing had happened to the node when the call was carried
     * out, unless the node was watched anew meanwhile.
     */
    boolean isWatched(String path) {
        return getDataWatches().contains(path);
    }

    /** Creates an ephemeral sequential node. */
    CompletableFuture<Node> createInLine(
            String prefix, byte[] data, List<ACL> acl, Runnable done, Function<Create2Response, Node> node) {
        Create2Response created = new Create2Response();
        CreateRequest request = new CreateRequest(prefix, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL.toFlag());
        return send(ZooDefs.OpCode.create2, prefix, request, created, done, () -> node.apply(created));
    }

    /** Deletes a node. */
    CompletableFuture<Boolean> deleteNow(String path, Runnable done) {
        return send(ZooDefs.OpCode.delete, path, new DeleteRequest(path, -1), EMPTY, done, () -> true);
    }

    /** Changes a node and deletes it, in one transaction, so that who watches the data hears of that alone. */
    CompletableFuture<Boolean> changeAndDelete(String path, Runnable done) {
        Record request = new MultiOperationRecord(List.of(Op.setData(path, NOTHING, -1), Op.delete(path, -1)));
        MultiResponse results = new MultiResponse();
        return send(ZooDefs.OpCode.multi, path, request, results, done, () -> allDone(results, path));
    }

    private static boolean allDone(MultiResponse results, String path) throws KeeperException {
        for (OpResult result : results.getResultList()) {
            if (result instanceof OpResult.ErrorResult error && error.getErr() != Code.OK.intValue()) {
                throw KeeperException.create(Code.get(error.getErr()), path);
            }
        }
        return true;
    }

    private <T> CompletableFuture<T> send(
            int operation, String path, Record request, Record response, Runnable done, Reading.Value<T> value) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        RequestHeader header = new RequestHeader();
        header.setType(operation);
        Object unused = cnxn.queuePacket(
                header,
                new Failure(answer, path),
                request,
                new Reading<>(response, done, value, answer),
                null,
                path,
                path,
                null,
                null);
        return answer;
    }

    /** What every answer without success, and every loss of the connection, is put into. */
    private static final class Failure extends ReplyHeader {
        private final CompletableFuture<?> answer;
        private final String path;

        Failure(CompletableFuture<?> answer, String path) {
            this.answer = answer;
            this.path = path;
        }

        @Override
        public void setErr(int code) {
            super.setErr(code);
            if (code != Code.OK.intValue()) {
                answer.completeExceptionally(KeeperException.create(Code.get(code), path));
            }
        }
    }

    /** What every other answer is read into. */
    private record Reading<T>(Record response, Runnable done, Value<T> value, CompletableFuture<T> answer)
            implements Record {

        interface Value<T> {
            T get() throws KeeperException;
        }

        @Override
        public void deserialize(InputArchive archive, String tag) throws IOException {
            try {
                response.deserialize(archive, tag);
                T read = value.get();
                done.run();
                answer.complete(read);
            } catch (KeeperException e) {
                answer.completeExceptionally(e);
            } finally {
                if (!answer.isDone()) {
                    // It could not be read: the connection is given up.
                    answer.completeExceptionally(new KeeperException.ConnectionLossException());
                }
            }
        }

        @Override
        public void serialize(OutputArchive archive, String tag) throws IOException {
            response.serialize(archive, tag);
        }
    }
}
