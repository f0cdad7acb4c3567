import fc from 'fast-check'
import type { Step } from './oracle.ts'

/** Few amounts, so that a credit often equals a requested refund, and a dispute the rest. */
const cents = fc.constantFrom(300, 500, 700, 1_200, 2_000)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), cents }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('credit' as const), cents, isNamed: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('dispute' as const), cents, isUnauthorized: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('says' as const),
      says: fc.constantFrom('credited', 'won', 'lost'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('clear', 'cancel', 'withdraw', 'delete') }),
  },
)

const clear: Step = { kind: 'clear' }
const asked = (of: number): Step => ({ kind: 'ask', cents: of })
const credited = (of: number, isNamed = true): Step => ({ kind: 'credit', cents: of, isNamed })
const disputed = (of: number, isUnauthorized: boolean): Step => ({
  kind: 'dispute',
  cents: of,
  isUnauthorized,
})
const said = (says: 'credited' | 'won' | 'lost'): Step => ({ kind: 'says', says })

/** Cases that random generation finds rarely; they run each time. */
export const known: [Step[]][] = [
  [[clear, asked(700), disputed(1_200, true), credited(700), credited(500), said('lost')]],
  [[clear, disputed(1_200, false), asked(700), said('credited'), credited(700, false), credited(1_200)]],
  [[clear, disputed(2_000, true), { kind: 'delete' }, { kind: 'withdraw' }, said('won'), credited(500)]],
  [[credited(500), clear, asked(700), { kind: 'cancel' }, disputed(700, true), credited(1_200), said('won')]],
  // A withdrawn dispute is won although a part that it claimed is to be refunded on request.
  [[clear, disputed(2_000, false), { kind: 'withdraw' }, asked(500), said('won'), credited(500)]],
]

/** A withdrawn dispute is won after another one of the whole payment has begun. */
export const knownAtOnce: [[boolean, ...Step[]]][] = [
  [
    [
      false,
      { kind: 'withdraw' },
      credited(2_000, false),
      credited(500),
      said('lost'),
      said('won'),
      disputed(2_000, true),
    ],
  ],
]

/** Usually the merchant clears first; earlier steps are generated as well. */
export const story: fc.Arbitrary<Step[]> = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.array(step, { minLength: 3, maxLength: 9 }))
  .map(([at, steps]) => steps.toSpliced(at === 4 ? 1 : 0, 0, { kind: 'clear' }))

export const atOnce: fc.Arbitrary<[boolean, ...Step[]]> = fc
  .tuple(fc.boolean(), fc.array(step, { minLength: 2, maxLength: 8 }))
  .map(([isUnauthorized, steps]) => [isUnauthorized, ...steps])
