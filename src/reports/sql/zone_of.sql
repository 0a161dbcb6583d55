-- Only IANA names, as the contract wants them: Postgres also takes abbreviations and POSIX texts such as UTC+8, which is eight
-- hours WEST of UTC. It takes some IANA names for abbreviations, which have no summer time: these are read by another name of the
-- same zone. pg_timezone_names has them all, and takes a tenth of a second.
CREATE OR REPLACE FUNCTION ferry_internal.zone_of(p_timezone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_zone text := CASE p_timezone WHEN 'CET' THEN 'Europe/Brussels' WHEN 'MET' THEN 'Europe/Brussels' WHEN 'EET' THEN 'Europe/Athens'
    WHEN 'WET' THEN 'Europe/Lisbon' WHEN 'EST' THEN 'America/Panama' WHEN 'MST' THEN 'America/Phoenix' WHEN 'HST' THEN 'Pacific/Honolulu'
    ELSE p_timezone END;
BEGIN
  IF v_zone ~ '^[A-Z][A-Za-z_-]*(/[A-Z][A-Za-z_-]*)+$' OR v_zone ~ '^Etc/GMT([+](\d|1[0-2])|-(\d|1[0-4])|0)$' OR v_zone = ANY (
    '{CST6CDT,Cuba,EST5EDT,Egypt,Eire,GB,GB-Eire,GMT,GMT+0,GMT-0,GMT0,Greenwich,Hongkong,Iceland,Iran,Israel,Jamaica,Japan,Kwajalein,Libya,MST7MDT,NZ,NZ-CHAT,Navajo,PRC,PST8PDT,Poland,Portugal,ROC,ROK,Singapore,Turkey,UCT,UTC,Universal,W-SU,Zulu}')
  THEN
    PERFORM now() AT TIME ZONE v_zone;
    RETURN v_zone;
  END IF;
  RETURN 'Asia/Shanghai';
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN 'Asia/Shanghai';
END $$;

COMMENT ON FUNCTION ferry_internal.zone_of IS 'The time zone in which the platform reads a rule''s schedule: Asia/Shanghai if the rule has none, or names one that is not an IANA name, or that this Postgres does not know.';
