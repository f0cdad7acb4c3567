-- Area: control. What a policy adds to the exchange rate of a price in another currency; null is the default of 3 %.
alter table policies add column conversion_margin_percent double precision
  check (conversion_margin_percent between 0::double precision and 100::double precision);
