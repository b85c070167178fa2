// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Several members that share the names of one cluster. Begin with
 * {@link io.keyway.lock.peer.cluster.ClusterMode}, which opens a client; then
 * {@link io.keyway.lock.peer.cluster.ClusterRuntime} with
 * {@link io.keyway.lock.peer.cluster.Router}, the client's side, and {@link io.keyway.lock.peer.cluster.ClusterMember}.
 */
@NullMarked
package io.keyway.lock.peer.cluster;

import org.jspecify.annotations.NullMarked;
