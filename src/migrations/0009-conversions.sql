-- How the price of a merchant in another currency became the amount in euros: price, currency, rate, its day, margin.
alter table mpp_credentials add column conversion jsonb;
