import { defineEntity, p } from '@mikro-orm/core'
import { record, tenantTable } from '../../../kernel/database/entity.ts'
import { insertIntoBoth, type RowOf, tableOf } from '../../../record-store/index.ts'
import type { Openings } from '../../../statements/index.ts'

const proofSchema = defineEntity({
  ...tenantTable('Approval', 'approvals'),
  properties: {
    ...record('approval'),
    intentId: p.text(),
    /** The JWS proof contains names only as salted commitments. */
    jws: p.text(),
    keptUntil: p.date().$type<string>(),
  },
})

export class Approval extends proofSchema.class {}
proofSchema.setClass(Approval)

const openingsSchema = defineEntity({
  ...tenantTable('ApprovalOpenings', 'approval_openings'),
  properties: {
    ...record('approval'),
    openings: p.json<Openings>(),
  },
})

/** The names behind the commitments of a proof. Erasing them does not invalidate the proof. */
export class ApprovalOpenings extends openingsSchema.class {}
openingsSchema.setClass(ApprovalOpenings)

export type ApprovalRow = RowOf<Approval>
export type OpeningsRow = RowOf<ApprovalOpenings>

export const insertApprovals = insertIntoBoth(tableOf(Approval), tableOf(ApprovalOpenings))

/** German commercial and tax law requires books and vouchers for this long after the end of the year. */
const YEARS_KEPT = 10

export const keptUntil = (approvedAt: Date): string => `${approvedAt.getUTCFullYear() + YEARS_KEPT}-12-31`
