import { MOST_TIMES_DEARER, RHYTHMS } from './rhythm.ts'

const names = Object.keys(RHYTHMS) as (keyof typeof RHYTHMS)[]

const isWithin = (apart: string, every: keyof typeof RHYTHMS): string =>
  `${apart} between ${RHYTHMS[every].least} and ${RHYTHMS[every].most}`

/** SQL: whether two payments may follow each other in some rhythm. */
export const mayFollow = (apart: string): string => names.map(every => isWithin(apart, every)).join(' or ')

const EVERY = `case
    when price > before_price * ${MOST_TIMES_DEARER} or before_price > price * ${MOST_TIMES_DEARER} then null
    ${names.map(every => `when ${isWithin('day - before_day', every)} then '${every}'`).join(' ')} end`

const LONG_ENOUGH = names.map(every => `when '${every}' then ${RHYTHMS[every].times - 1}`).join(' ')

/** From so long ago on payments are looked at: a monthly rhythm needs more than a year to be seen changing. */
export const RHYTHM_DAYS = 400

/**
 * SQL: what one charge of a day costs. Only the sum of a day is known, so several charges are read as one that was made by mistake
 * more often where each costs what the only charge of the day before or after did. As long as nothing has come after them, they may
 * also be a new, higher price, where the price has been steady: the next charge tells.
 */
const PRICE = `case
    when payments > 1 and spent in (payments * single_before, payments * single_after) then (spent / payments)::bigint
    when payments > 1 and after_day is null and single_before = single_earlier and spent % payments = 0
      and spent / payments between single_before and single_before * ${MOST_TIMES_DEARER} then (spent / payments)::bigint
    else spent end`

/**
 * SQL: the CTE `runs` of the CTE `paid (agent_id, value, day, payments, spent)`, which has the days on which an agent has paid a
 * merchant. A run is as many charges that follow each other by the same rhythm as make one, and `cents` are their prices.
 */
export const RUNS = `
singles as (
  select *, case when payments = 1 then spent end as single from paid
),
neighbours as (
  select *, lead(day) over one as after_day, lag(single, 2) over one as single_earlier,
    lag(single) over one as single_before, lead(single) over one as single_after
  from singles window one as (partition by agent_id, value order by day)
),
priced as (
  select agent_id, value, day, after_day, ${PRICE} as price from neighbours
),
spaced as (
  select *, lag(day) over one as before_day, lag(price) over one as before_price
  from priced window one as (partition by agent_id, value order by day)
),
followed as (
  select *, ${EVERY} as every from spaced
),
-- Days that follow each other by the same rhythm have the same number.
numbered as (
  select *, row_number() over (partition by agent_id, value order by day)
    - row_number() over (partition by agent_id, value, every order by day) as number
  from followed
),
runs as (
  select agent_id, value, every, min(before_day) || array_agg(day order by day) as days,
    (array_agg(before_price order by day))[1] || array_agg(price order by day) as cents,
    (array_agg(after_day order by day desc))[1] as broken_on
  from numbered where every is not null group by agent_id, value, every, number
  having count(*) >= case every ${LONG_ENOUGH} end
)`
