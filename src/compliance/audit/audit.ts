import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { auditApi } from './api.ts'
import { Checkpoint, newestCheckpoint, shownCheckpoint } from './checkpoint.ts'
import { findEntry } from './entries.ts'
import { exportTrail } from './export.ts'
import { auditPersonal } from './personal.ts'
import { prove, proveConsistency } from './proofs.ts'
import { purgeTrail } from './purge.ts'
import { detailsOf, search } from './search.ts'
import { verifyTrail } from './verify.ts'

const audit = implement(auditApi, {
  list: search,

  async get({ params }, { sql, tenant, refuse }) {
    const row = await findEntry(sql, tenant, params.id)
    return row ? detailsOf(row) : refuse('entry_not_found')
  },

  proof: prove,

  checkpoint: async (_, { sql, tenant, refuse }) =>
    (await newestCheckpoint(sql, tenant)) ?? refuse('trail_not_found'),

  async checkpoints(_, { page }) {
    const { data, ...cursor } = await page(Checkpoint, {})
    return { ...cursor, data: data.map(shownCheckpoint) }
  },

  consistency: proveConsistency,
  export: exportTrail,
  purge: purgeTrail,
  verify: verifyTrail,
})

export const auditArea = area(
  'Audit',
  'Who did what, when, and from where, in a trail that proves itself.',
  audit,
  { entities: [Checkpoint], personal: auditPersonal },
)
