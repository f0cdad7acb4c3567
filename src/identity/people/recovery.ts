import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable } from '../../kernel/database/personal.ts'
import { days } from '../../values/clock.ts'
import { ID_AND_NAME } from '../../values/personal.ts'

export const recoveryMachine = stateMachine('recovery', {
  waiting: ['ready', 'stopped'],
  ready: ['completed', 'stopped', 'expired'],
  completed: [],
  stopped: [],
  expired: [],
})

export const OPEN_RECOVERY_SQL = "status in ('waiting', 'ready')"

/** How long the tenant's people can stop a recovery, in the tenant's time. */
export const RECOVERY_WAITING_PERIOD_MS = days(1)

export const RECOVERY_TTL_MS = days(7)

export const recoveryStopperTypes = ['key', 'console', 'operator', 'process'] as const

/** The name of an operator is unproven. */
export interface RecoveryStopper {
  type: (typeof recoveryStopperTypes)[number]
  id: string | null
  name: string | null
}

const schema = defineEntity({
  ...tenantTable('Recovery', 'recoveries'),
  ...personalTable({ about: { person: ['person_id', "stopped_by ->> 'id'"] } }),
  properties: {
    ...recordColumns('recovery'),
    personId: p.text(),
    status: p.enum(recoveryMachine.states).onCreate(() => recoveryMachine.initial),
    /** Until this time, the recovery can only be stopped. Afterwards the operator creates the link. */
    readyAt: timestampColumn(),
    expiresAt: timestampColumn(),
    endedAt: nullable.instant(),
    stoppedBy: personal(nullable.json<RecoveryStopper>(), 'name', 'security', ID_AND_NAME),
    reason: personal(nullable.string(), 'words', 'security', 'word'),
    /** When the run or the sweep has to act; null once nothing is due. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** The recovery of a person without a passkey. All people of the tenant are notified and can stop it. */
export class Recovery extends schema.class {}
schema.setClass(Recovery)

export const isRecoveryOpen = ({ status }: Pick<Recovery, 'status'>): boolean =>
  !recoveryMachine.isFinal(status)
