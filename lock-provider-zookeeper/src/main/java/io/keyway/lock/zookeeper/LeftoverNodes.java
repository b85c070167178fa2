// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what a closed client has left in a session that goes on. Curator repeats each deletion until it is answered,
 * for as long as the application keeps the framework open.
 */
final class LeftoverNodes {
    private static final Logger LOG = LoggerFactory.getLogger(LeftoverNodes.class);

    private final CuratorFramework framework;
    private final Phaser unanswered = new Phaser(1);

    LeftoverNodes(CuratorFramework framework) {
        // Our paths are whole.
        this.framework = framework.usingNamespace(null);
    }

    void delete(String path) {
        unanswered.register();
        try {
            framework
                    .delete()
                    .guaranteed()
                    .inBackground((client, event) -> unanswered.arriveAndDeregister())
                    .forPath(path);
        } catch (Exception e) {
            failed(path, e);
        }
    }

    /** Deletes the nodes whose names begin so, also those that come of what was sent before. */
    void deleteAll(String container, String prefix) {
        unanswered.register();
        try {
            framework
                    .sync()
                    .inBackground((client, event) -> list(container, prefix))
                    .forPath(container);
        } catch (Exception e) {
            failed(container, e);
        }
    }

    private void list(String container, String prefix) {
        try {
            framework
                    .getChildren()
                    .inBackground((client, event) -> {
                        if (event.getResultCode() == Code.OK.intValue()) {
                            event.getChildren().stream()
                                    .filter(name -> name.startsWith(prefix))
                                    .forEach(name -> delete(container + "/" + name));
                        }
                        unanswered.arriveAndDeregister();
                    })
                    .forPath(container);
        } catch (Exception e) {
            failed(container, e);
        }
    }

    private void failed(String path, Exception e) {
        unanswered.arriveAndDeregister();
        LOG.warn("What is left at {} ends with the session of the CuratorFramework", path, e);
    }

    /** Waits for the answers, but not for those that are asked for again. */
    void await(Deadline deadline) {
        try {
            int unused = unanswered.awaitAdvanceInterruptibly(
                    unanswered.arriveAndDeregister(), deadline.nanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            LOG.info("Not all that was left is deleted yet; it is tried again");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
