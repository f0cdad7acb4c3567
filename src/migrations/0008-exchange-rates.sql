-- Area: money. Euro reference rates of the European Central Bank: units of a currency for one euro.
create table exchange_rates (
  date date not null,
  currency text not null check (currency ~ '^[A-Z]{3}$' and currency <> 'EUR'),
  rate numeric not null check (rate > 0),
  fetched_at timestamptz(3) not null,
  primary key (date, currency)
);
