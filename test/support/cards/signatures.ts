import { createHmac } from 'node:crypto'
import { deriveSecrets } from '../../../src/ports/vault.ts'
import { clock } from '../../../src/values/clock.ts'
import { ENCRYPTION_KEY } from '../harness.ts'

interface Signing {
  readonly key?: string
  readonly secondsAgo?: number
}

export function signed(body: string, { key = ENCRYPTION_KEY, secondsAgo = 0 }: Signing = {}) {
  const [secret] = deriveSecrets('sandbox card messages', key, [])
  const seconds = Math.floor(clock.milliseconds() / 1_000) - secondsAgo
  const signature = createHmac('sha256', secret as Buffer)
    .update(`${seconds}.${body}`)
    .digest('hex')
  return { 'content-type': 'application/json', 'card-processor-signature': `t=${seconds},v1=${signature}` }
}
