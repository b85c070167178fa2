// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import javax.sql.DataSource;

/**
 * Gives each transaction a session of the server, whichever is free, as PgBouncer does with {@code pool_mode} set to
 * transaction: on real connections, between which a client's connection changes. The session used last goes out first.
 */
final class TransactionPool implements AutoCloseable {

    private final Deque<Connection> free = new ArrayDeque<>();

    TransactionPool(DataSource sessions) throws SQLException {
        for (int i = 0; i < 3; i++) {
            free.add(sessions.getConnection());
        }
    }

    /** The pool as an application sees it. */
    CountedSource source() {
        return new CountedSource(this::connection);
    }

    private synchronized Connection free() {
        return free.pop();
    }

    private synchronized void free(Connection connection) {
        free.push(connection);
    }

    private Connection connection() {
        Client client = new Client();
        return proxy(Connection.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "close", "abort" -> null;
            case "setAutoCommit" -> {
                client.autoCommit = (boolean) arguments[0];
                if (client.autoCommit) {
                    client.end();
                }
                yield null;
            }
            case "getAutoCommit" -> client.autoCommit;
            case "commit", "rollback" -> {
                client.end();
                yield null;
            }
            case "prepareStatement" -> client.statement(PreparedStatement.class, method, arguments);
            case "createStatement" -> client.statement(Statement.class, method, arguments);
            default -> {
                Connection session = client.begin();
                try {
                    yield invoke(method, session, arguments);
                } finally {
                    client.endIfAuto();
                }
            }
        });
    }

    /** One connection of the application, and the session of its transaction, while it has one. */
    private final class Client {
        private boolean autoCommit = true;
        private Connection session;

        private Connection begin() throws SQLException {
            if (session == null) {
                session = free();
                session.setAutoCommit(autoCommit);
            }
            return session;
        }

        private void end() throws SQLException {
            if (session != null) {
                if (!session.getAutoCommit()) {
                    session.rollback();
                    session.setAutoCommit(true);
                }
                free(session);
                session = null;
            }
        }

        private void endIfAuto() throws SQLException {
            if (autoCommit) {
                end();
            }
        }

        private Object statement(Class<?> type, Method method, Object[] arguments) throws Throwable {
            Object statement = invoke(method, begin(), arguments);
            return proxy(type, (proxy, called, with) -> {
                Object answer = invoke(called, statement, with);
                if (called.getName().equals("close")) {
                    endIfAuto();
                }
                return answer;
            });
        }
    }

    private static Object invoke(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(TransactionPool.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public void close() throws SQLException {
        for (Connection each : free) {
            each.close();
        }
    }
}
