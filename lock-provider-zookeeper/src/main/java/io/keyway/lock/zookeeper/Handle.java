// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.apache.jute.InputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
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
import org.apache.zookeeper.proto.RequestHeader;

/**
 * A handle that also knows calls which wake the thread that waits for the answer as soon as it is received. ZooKeeper's own
 * ones either do that and know no time limit, or are answered on the thread of the session's events: one more change of
 * threads, a tenth of what a pair of a creation and a deletion takes in all.
 */
final class Handle extends ZooKeeper {
    private static final byte[] NOTHING = {};

    Handle(String servers, int timeoutMillis, Watcher watcher, HostProvider addresses, ZKClientConfig config)
            throws IOException {
        super(servers, timeoutMillis, watcher, false, addresses, config);
    }

    /**
     * Whether the watch of that node's data is in force. It is taken out when its event is received, before the event is told:
     * so after an answer, true says that nothing had happened to the node when the call was carried out.
     */
    boolean isWatched(String path) {
        return getDataWatches().contains(path);
    }

    /** Creates an ephemeral sequential node. */
    Reply<Node> createInLine(
            String prefix, byte[] data, List<ACL> acl, LongConsumer confirmed, Function<Create2Response, Node> node) {
        Record request = new CreateRequest(prefix, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL.toFlag());
        Create2Response created = new Create2Response();
        return new Reply<>(
                prefix,
                (header, content) -> cnxn.queuePacket(
                        type(ZooDefs.OpCode.create2), header, request, content, null, prefix, prefix, null, null),
                created,
                () -> node.apply(created),
                confirmed);
    }

    /** Deletes a node. */
    Reply<Boolean> deleteNow(String path, LongConsumer confirmed) {
        Record request = new DeleteRequest(path, -1);
        return new Reply<>(
                path,
                (header, content) -> cnxn.queuePacket(
                        type(ZooDefs.OpCode.delete), header, request, content, null, path, path, null, null),
                NOTHING_SAID,
                () -> true,
                confirmed);
    }

    /** Changes a node and deletes it, in one transaction, so that who watches the data hears of that alone. */
    Reply<Boolean> changeAndDelete(String path, LongConsumer confirmed) {
        Record request = new MultiOperationRecord(List.of(Op.setData(path, NOTHING, -1), Op.delete(path, -1)));
        MultiResponse results = new MultiResponse();
        return new Reply<>(
                path,
                (header, content) -> cnxn.queuePacket(
                        type(ZooDefs.OpCode.multi), header, request, content, null, path, path, null, null),
                results,
                () -> allDone(results, path),
                confirmed);
    }

    private static boolean allDone(MultiResponse results, String path) throws KeeperException {
        for (OpResult result : results.getResultList()) {
            if (result instanceof OpResult.ErrorResult error && error.getErr() != KeeperException.Code.OK.intValue()) {
                throw KeeperException.create(KeeperException.Code.get(error.getErr()), path);
            }
        }
        return true;
    }

    private static RequestHeader type(int operation) {
        RequestHeader header = new RequestHeader();
        header.setType(operation);
        return header;
    }

    private static final Record NOTHING_SAID = new Record() {
        @Override
        public void serialize(OutputArchive archive, String tag) {}

        @Override
        public void deserialize(InputArchive archive, String tag) {}
    };
}
