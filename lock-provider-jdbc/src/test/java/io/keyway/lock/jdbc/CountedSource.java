// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A DataSource as an application brings one; it remembers what was executed, and how many connections were out. */
final class CountedSource implements DataSource {

    /** Where a connection comes from. */
    interface Source {
        Connection connect() throws SQLException;
    }

    private final Source source;
    private final List<String> executed = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger out = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    CountedSource(Source source) {
        this.source = source;
    }

    /** What was executed since this was asked last. */
    List<String> executed() {
        synchronized (executed) {
            List<String> all = List.copyOf(executed);
            executed.clear();
            return all;
        }
    }

    /** The most connections that were out at once. */
    int most() {
        return most.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = source.connect();
        most.accumulateAndGet(out.incrementAndGet(), Math::max);
        return wrap(Connection.class, connection, "");
    }

    private <T> T wrap(Class<T> type, Object inner, String sql) {
        return type.cast(Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    if (name.equals("close") && inner instanceof Connection) {
                        out.decrementAndGet();
                    }
                    if (name.startsWith("execute")) {
                        executed.add(arguments == null ? sql : (String) arguments[0]);
                    }
                    Object answer;
                    try {
                        answer = method.invoke(inner, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                    if (answer instanceof PreparedStatement) {
                        return wrap(PreparedStatement.class, answer, (String) arguments[0]);
                    }
                    return answer instanceof Statement ? wrap(Statement.class, answer, "") : answer;
                }));
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("it stands for itself");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
