import { sandboxSepaRail } from '../../../src/adapters/sepa-rail/sandbox.ts'
import { openRuntime } from '../../../src/app/runtime.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { secretSettings } from '../services/settings.ts'

/**
 * A worker’s process that submits one transfer, as its run asks for it, and tells on standard output that it is ready, each call of
 * the bank, and how the activity has ended. A test pauses it:
 *
 *     node test/support/commerce/submitting-worker.ts <id> <ownerId>
 */
const [id = '', ownerId = ''] = process.argv.slice(2)
const say = (line: string) => process.stdout.write(`${line}\n`)

const sandbox = sandboxSepaRail()
const rail: typeof sandbox = {
  ...sandbox,
  submit(payment, call) {
    say('the bank is called')
    return sandbox.submit(payment, call)
  },
}

const settings = { ...readSettings({ LOG_LEVEL: 'silent', DATABASE_POOL: '5' }), ...secretSettings }
const databaseUrl = String(process.env.DATABASE_URL)
const runtime = await openRuntime({
  settings: { ...settings, databaseUrl },
  shared: true,
  outside: { sepaRail: () => rail },
})
const { submitPayment } = runtime.activities({ requestIdOf: () => `workflow:transfer/${id}` })
say('the worker begins')
const end = await submitPayment?.({ id, ownerId, mode: 'test' } as never).then(
  () => 'done',
  ({ code }: { readonly code?: string }) => String(code),
)
say(`the activity has ended: ${end}`)
await runtime.threads.stop()
await runtime.database.close()
