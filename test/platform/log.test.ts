import { describe, expect, test } from '@jest/globals'
import { redactor } from '../../src/platform/log.ts'
import { newId } from '../../src/values/ids.ts'

const redact = redactor([])

describe('a log line', () => {
  test('keeps the owner’s id, which is not a secret', () => {
    const line = JSON.stringify({ ownerId: newId('customer'), actorId: newId('key'), of: newId('receipt') })
    expect(redact(line)).toBe(line)
  })

  const secret = 'mer_tVeXB2wgcU6M1zEb7cXL69VO9GRKW8xtSHDxzgx4JVX'
  test.each([
    secret,
    `trace_${secret}`,
    `custo${secret}`,
    `x${newId('customer')}`,
    `${newId('customer')}_${secret}`,
    `${newId('customer')}0`,
    secret.replace('mer_', 'sk_live_'),
    secret.replace('mer_', 'at_test_'),
    secret.replace('mer_', 'cst_'),
    secret.replace('mer_', 'pt_'),
    `trace_${secret.replace('mer_', 'pt_')}`,
    secret.replace('mer_', 'dlg_'),
    secret.replace('mer_', 'dvc_'),
    secret.replace('mer_', 'whsec_'),
  ])('redacts %s', text => {
    expect(redact(text)).toContain('[secret]')
    expect(redact(text)).not.toContain(secret.slice(4))
  })
})
