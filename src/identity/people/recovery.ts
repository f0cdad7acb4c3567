import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'

export const recoveryMachine = machine('recovery', {
  waiting: ['ready', 'stopped'],
  ready: ['completed', 'stopped', 'expired'],
  completed: [],
  stopped: [],
  expired: [],
})

export const OPEN = "status in ('waiting', 'ready')"

/** How long the tenant's people can stop a recovery, in the tenant's time. */
export const RECOVERY_WAITS_MS = days(1)

export const RECOVERY_LASTS_MS = days(7)

export const stopperTypes = ['key', 'console', 'operator', 'process'] as const

/** The name of an operator is unproven. */
export interface StoppedBy {
  type: (typeof stopperTypes)[number]
  id: string | null
  name: string | null
}

const schema = defineEntity({
  ...tenantTable('Recovery', 'recoveries'),
  properties: {
    ...record('recovery'),
    personId: p.text(),
    status: p.enum(recoveryMachine.states).onCreate(() => recoveryMachine.initial),
    /** Until this time, the recovery can only be stopped. Afterwards the operator creates the link. */
    readyAt: timestamp(),
    expiresAt: timestamp(),
    endedAt: nullable.instant(),
    stoppedBy: nullable.json<StoppedBy>(),
    reason: nullable.string(),
    /** When the run or the sweep has to act; null once nothing is due. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** The recovery of a person without a passkey. All people of the tenant are notified and can stop it. */
export class Recovery extends schema.class {}
schema.setClass(Recovery)

export const isOpen = ({ status }: Pick<Recovery, 'status'>): boolean => !recoveryMachine.isFinal(status)
