import { z } from 'zod'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'

/** A past or present state of a policy, with the changes that led to it. */
export const VersionRecord = z
  .object({
    id: id('policyversion'),
    policyId: id('policy'),
    version: z.int(),
    rules: z
      .record(z.string(), z.unknown())
      .meta({ examples: [{ name: 'Research budget', dailyLimitEuros: 200 }] }),
    changes: z
      .array(
        z.object({
          field: z.string().meta({ examples: ['dailyLimitEuros'] }),
          from: z.unknown().meta({ examples: [50] }),
          to: z.unknown().meta({ examples: [70] }),
          text: z.string().meta({ examples: ['Daily limit: € 50.00 → € 70.00'] }),
        }),
      )
      .meta({ description: 'What this version changed; empty in the first one.' }),
    changedByType: z.string().meta({ examples: ['key'] }),
    changedById: z.string().nullable(),
    createdAt: instant,
  })
  .meta({ id: 'PolicyVersion' })
