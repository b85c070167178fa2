// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Tests of the ZooKeeper provider, on servers in this process. */
package io.keyway.lock.zookeeper;
