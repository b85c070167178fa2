// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.LockBackend;

/** A client that is told nothing. */
class NoSignals implements LockBackend.Signals {

    @Override
    public void recheck(LockKey key) {}

    @Override
    public void doubt(String why) {}

    @Override
    public void ended(LockKey key, long token, LeaseLoss.Cause cause) {}

    @Override
    public void endedAll(LeaseLoss.Cause cause) {}

    @Override
    public void connected(String server) {}

    @Override
    public void disconnected(String server, String why) {}

    @Override
    public void background(String name, LockBackend.Loop loop) {}
}
