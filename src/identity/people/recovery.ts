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

/** SQL condition: the process of the recovery has something to wait for. */
export const OPEN = "status in ('waiting', 'ready')"

/** How long everybody has to stop a recovery, in the tenant's time. */
export const RECOVERY_WAITS_MS = days(1)

/** How long a recovery that nobody has stopped can be completed. */
export const RECOVERY_LASTS_MS = days(7)

export const stopperTypes = ['key', 'console', 'operator', 'process'] as const

/** Who has stopped a recovery. Nothing proves the name that an operator gives. */
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
    /** Until then it can only be stopped; after that the operator makes the link. */
    readyAt: timestamp(),
    expiresAt: timestamp(),
    endedAt: nullable.instant(),
    stoppedBy: nullable.json<StoppedBy>(),
    reason: nullable.string(),
    /** When the process or the sweep has something to do; null once nothing is due any more. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** The way back in for a person without a passkey, which everybody of the tenant is told of and can stop. */
export class Recovery extends schema.class {}
schema.setClass(Recovery)

export const isOpen = ({ status }: Pick<Recovery, 'status'>): boolean => !recoveryMachine.isFinal(status)
