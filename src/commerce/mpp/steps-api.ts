import { z } from 'zod'
import { mppTokenEvents } from '../../cards/agent-credentials/index.ts'
import { tokenPaymentEvents } from '../../cards/authorizations/index.ts'
import { get, missing, post } from '../../kernel/contract/operation.ts'
import { ProcessStatusRecord } from '../../values/schemas.ts'
import { outcomeEvents } from './schemas.ts'

const credential_not_found = missing('MPP credential')

/** Whether there was anything to do. */
const acted = [200, z.object({ acted: z.boolean() })] as const

/** The steps of a machine payment's process. Each may be repeated: a step that is not due changes nothing. */
export const stepsApi = {
  status: get('/v1/mpp/credentials/{id}/status', {
    summary: 'How a machine payment stands',
    callers: [],
    readsClock: true,
    returns: [
      200,
      ProcessStatusRecord.extend({
        steps: z.array(z.string()).meta({ description: 'What was done, in order.' }),
        next: z.enum(['settle', 'deleteToken']).nullable(),
      }),
    ],
    fails: { credential_not_found },
  }),
  /** A silent merchant leaves the outcome open; one that stays open for 31 days counts as not paid. */
  settle: post('/v1/mpp/credentials/{id}/settle', {
    summary: 'Do what is due for a machine payment',
    callers: [],
    returns: acted,
    fails: { credential_not_found },
    emits: { ...tokenPaymentEvents, ...mppTokenEvents, ...outcomeEvents },
  }),
  /** The service itself pays nothing by the token already. */
  deleteToken: post('/v1/mpp/credentials/{id}/delete-token', {
    summary: 'Tell the processor that the token of a machine payment is over',
    callers: [],
    run: 'outside',
    requires: 'cardProcessor',
    returns: acted,
    fails: { credential_not_found },
  }),
}
