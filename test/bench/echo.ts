import { z } from 'zod'
import { area } from '../../src/kernel/contract/area.ts'
import { bindHandlers, post } from '../../src/kernel/contract/operation.ts'

export const Note = z.strictObject({
  title: z.string().trim().min(1).max(200),
  amount: z.number().min(0).max(1_000_000),
  tags: z.array(z.string().max(50)).max(20),
  urgent: z.boolean(),
})

export const note: z.input<typeof Note> = {
  title: 'Paper for the printer',
  amount: 12.5,
  tags: ['office', 'monthly'],
  urgent: false,
}

/** The only key that the plain Express server accepts. */
export const BARE_KEY = 'sk_sandbox_0123456789012345678901234567890123456789012'

const echoApi = {
  echo: post('/echo', {
    summary: 'Say it again',
    callers: ['key'],
    scope: 'policies:read',
    run: 'read',
    body: Note,
    example: note,
    returns: [200, Note],
  }),
}

/** An operation without a database: it measures only the pipeline. */
export const echoArea = area(
  'Echo',
  'What the pipeline costs.',
  bindHandlers(echoApi, { echo: ({ body }) => body }),
)
