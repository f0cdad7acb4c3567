/**
 * SQL that divides an amount by weights, to the cent, so that the parts are the whole: each row gets what is due rounded down,
 * and the cents that are left go to those that miss most of theirs, the earlier `place` of two alike first. Weights below
 * nothing count as nothing; where all do, each part is alike. The CTE `name` has `amount`, `weight` and `place`, all of them
 * whole numbers, and the amount is the same in each row. Each row is told again with its `part`.
 */
export const distributed = (name: string): string => `
select rounded.*, (case when amount < 0 then -1 else 1 end) * (least_part + case
    when row_number() over (order by missing desc, place) <= abs(amount) - sum(least_part) over () then 1 else 0 end
  ) as part
from (
  select weighed.*, div(abs(amount) * due, whole) as least_part, mod(abs(amount) * due, whole) as missing
  from (
    select counted.*, sum(due) over () as whole
    from (
      select one.*, case when max(weight) over () > 0 then greatest(weight, 0) else 1 end::numeric as due from ${name} as one
    ) as counted
  ) as weighed
) as rounded`
