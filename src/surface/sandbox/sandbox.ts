import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import { reserveClockMove } from '../../kernel/database/tenant-clock.ts'
import { clock, days, minutes } from '../../values/clock.ts'
import { sandboxApi } from './api.ts'
import { cardNetwork } from './card-network.ts'
import { cardNetworkApi } from './card-network-api.ts'

interface Reserved {
  readonly tenant: Tenant
  readonly toMs: number
}

const clockResponse = (now: Date) => ({
  now,
  offsetSeconds: Math.max(0, Math.round((now.getTime() - clock.milliseconds()) / 1_000)),
})

async function recordAdvance({ tenant, now, emit }: ContextOf<typeof sandboxApi.advance>) {
  const response = clockResponse(now)
  emit('clock.advanced', { ownerId: tenant.ownerId, ...response })
  return response
}

const sandbox = implement(
  { ...sandboxApi, ...cardNetworkApi },
  {
    ...cardNetwork,
    clock: (_, { now }) => clockResponse(now),

    advance: {
      async reserve({ body }, { tenant, sql, refuse }) {
        if (tenant.mode !== 'test') return refuse('test_mode_only')
        const by = minutes(body.minutes ?? 0) + days(body.days ?? 0) + (body.seconds ?? 0) * 1_000
        const toMs = await reserveClockMove(sql, tenant, by)
        return toMs === undefined ? refuse('clock_too_far') : { tenant, toMs }
      },
      call: ({ tenant, toMs }: Reserved, { ports }) => ports.advanceClock(tenant, toMs),
      record: (_answer, _reserved, context) => recordAdvance(context),
      recover: (_reserved, context) => recordAdvance(context),
    },
  },
)

export const sandboxArea = area(
  'Sandbox',
  'Test mode only: move time forward, play the card network, and see what happens.',
  sandbox,
)
