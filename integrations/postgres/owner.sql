-- Makes Ferry's role and database. The image of Postgres runs this with psql when it makes its files (docker-compose.yml),
-- with the password in POSTGRES_PASSWORD. For a Postgres of your own see docs/operators.md, "The role that Ferry works as".
\getenv password POSTGRES_PASSWORD

-- No superuser: whoever gets its rights, by whatever mistake, runs no program on this server and reads no file of it. It
-- makes the role that only reads, and roles for people who read.
create role ferry login createrole password :'password';
create database ferry owner ferry;

-- Most of what a sync with few changes writes ahead are whole pages; compressed they are less than half.
alter database ferry set wal_compression = on;

-- Anybody could hold the advisory locks that the queue in Postgres needs, as long as he likes. Here only Ferry takes such locks.
\connect ferry
select format('revoke execute on function %1$s from public; grant execute on function %1$s to ferry', oid::regprocedure)
  from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^pg_(try_)?advisory_' \gexec

-- From now on the superuser comes from inside the container only: docker compose exec postgres psql --username postgres
alter role postgres password null;
