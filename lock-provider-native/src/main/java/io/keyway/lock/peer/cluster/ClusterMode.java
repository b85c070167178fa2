// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.AddressMap;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.NativeOptions;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.spi.OpenRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/** Opens {@code lock:native://a:7400,b:7400,c:7400/cluster}. */
public final class ClusterMode {
    /** The port of a member that a URL does not give. */
    public static final int STANDARD_PORT = 7400;
    /** The name of a cluster that a URL does not give. */
    public static final String STANDARD_CLUSTER = "keyway";

    private ClusterMode() {}

    /**
     * A client; nothing but files of secrets and certificates is touched before its first request.
     *
     * @param hosted the member in this process that the URL names, which is asked without a socket
     * @param listener told what its cells tell, and which of them
     * @param whenClosed run once, when it has closed
     */
    public static ClientRuntime open(
            OpenRequest request,
            Algorithm algorithm,
            Optional<ClusterMember> hosted,
            BiConsumer<Notice, ClientCell> listener,
            Runnable whenClosed) {
        LockUrl url = request.url();
        Security security = Security.of(request);
        List<NodeId> addresses = asked(request, algorithm);
        security.checkDialling(addresses.stream().map(NodeId::host).toList());
        String cluster = cluster(url);
        Cells cells = new Cells(cluster, request.get(NativeOptions.MAX_TTL), algorithm, security.authenticator());
        ClusterConfig config = new ClusterConfig(
                cluster,
                addresses,
                dialled(request),
                cells,
                security,
                request.get(CommonOptions.CONNECT_TIMEOUT),
                request.get(CommonOptions.CLOSE_TIMEOUT));
        return new ClusterRuntime(request.clientName(), config, hosted, request.time(), listener, whenClosed);
    }

    /** A client of a member in its own process asks that one, where each will do. */
    private static List<NodeId> asked(OpenRequest request, Algorithm algorithm) {
        Optional<String> hosted = request.find(NativeOptions.MEMBER);
        return hosted.isPresent() && algorithm.serving() == Algorithm.Serving.BY_EACH
                ? List.of(NodeId.parse(hosted.get()))
                : addresses(request.url());
    }

    private static AddressMap dialled(OpenRequest request) {
        AddressMap map = request.get(NativeOptions.ADDRESS_MAP);
        for (String address : map.addresses().values()) {
            try {
                NodeId.parse(address);
            } catch (IllegalArgumentException e) {
                throw new InvalidLockUrlException("In " + request.url() + ": addressMap: " + e.getMessage(), e);
            }
        }
        return map;
    }

    /** The name of the cluster: the URL's path. */
    public static String cluster(LockUrl url) {
        return url.path()
                .map(path -> path.substring(1))
                .filter(path -> !path.isEmpty())
                .orElse(STANDARD_CLUSTER);
    }

    /**
     * The members that a URL names.
     *
     * @throws InvalidLockUrlException if there is none, or one is none
     */
    public static List<NodeId> addresses(LockUrl url) {
        if (url.hosts().isEmpty()) {
            throw new InvalidLockUrlException(
                    url + ": name members of the cluster, as in lock:native://a:7400,b:7400/" + STANDARD_CLUSTER);
        }
        List<NodeId> addresses = new ArrayList<>();
        for (LockUrl.Host host : url.hosts()) {
            try {
                addresses.add(new NodeId(host.name(), host.portOr(STANDARD_PORT)));
            } catch (IllegalArgumentException e) {
                throw new InvalidLockUrlException("In " + url + ": " + e.getMessage(), e);
            }
        }
        return addresses.stream().distinct().toList();
    }
}
