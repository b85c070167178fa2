/** A server with the interface of etcd, and a provider for it over the kit's rows: compare and set, watches, leases. */
@NullMarked
package io.keyway.lock.reference.etcd;

import org.jspecify.annotations.NullMarked;
