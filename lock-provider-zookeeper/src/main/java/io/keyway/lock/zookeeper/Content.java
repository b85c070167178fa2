// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import org.apache.zookeeper.data.Stat;

/** What a request's node holds. */
record Content(Note note, Stat stat) {}
