-- The periods in which a spend of this day counts: all time, its day, its month.
create or replace function periods_of(day date) returns text[] language sql immutable return
  array['all', 'day:' || to_char(day, 'YYYY-MM-DD'), 'month:' || to_char(day, 'YYYY-MM')];
