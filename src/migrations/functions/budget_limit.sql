-- The limit that an owner's budget sets for a period of a counter, in cents; null where it sets none.
create or replace function budget_limit(budget owner_budgets, period text) returns bigint language sql immutable return
  case split_part(period, ':', 1)
    when 'day' then budget.daily_limit_cents
    when 'month' then budget.monthly_limit_cents
  end;
