import { area } from '../../kernel/area.ts'
import { clock, days, minutes } from '../../kernel/clock.ts'
import type { Tenant } from '../../kernel/context.ts'
import { type ContextOf, implement } from '../../kernel/operation.ts'
import { simulateApi } from './api.ts'

interface Reserved {
  readonly tenant: Tenant
  readonly by: number
}

const read = (now: Date) => ({
  now,
  offsetSeconds: Math.max(0, Math.round((now.getTime() - clock.milliseconds()) / 1_000)),
})

async function answered({ tenant, now, emit }: ContextOf<typeof simulateApi.advance>) {
  const moved = read(now)
  emit('clock.advanced', { ownerId: tenant.ownerId, ...moved })
  return moved
}

const simulate = implement(simulateApi, {
  clock: (_, { now }) => read(now),

  advance: {
    async reserve({ body }, { tenant, refuse }) {
      if (tenant.mode !== 'test') return refuse('test_mode_only')
      const by = minutes(body.minutes ?? 0) + days(body.days ?? 0) + (body.seconds ?? 0) * 1_000
      return { tenant, by }
    },
    call: ({ tenant, by }: Reserved, { ports }) => ports.advanceClock(tenant, by),
    record: (_answer, _reserved, context) => answered(context),
    recover: (_reserved, context) => answered(context),
  },
})

export const simulateArea = area(
  'Sandbox',
  'Test mode only: move time forward and see what happens.',
  simulate,
)
