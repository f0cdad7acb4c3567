import { describe, expect, test } from '@jest/globals'
import { aVisitor } from './visitors.ts'

describe('a list of the console as CSV', () => {
  test('has every record that the filters leave, page after page, and no formula', async () => {
    const { owner, read } = await aVisitor()
    for (let batch = 0; batch < 3; batch++)
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          owner.client.agents.create({
            body: { name: `=cmd|"${batch}-${n}", always` },
          }),
        ),
      )
    const { status, text, headers } = await read('console/csv/agents?status=active')
    expect(status).toBe(200)
    expect(headers.get('content-disposition')).toContain('agents.csv')
    const [head, ...lines] = text.trimEnd().split('\r\n')
    expect(head).toMatch(/^id,name,status,/)
    expect(lines).toHaveLength(120)
    expect(lines[0]).toMatch(/,"'=cmd\|""2-\d+"", always",/)
    expect((await read('console/csv/agents?status=deleted')).text).toBe('id\r\n')
  })

  test('is refused for a filter that is not valid, and for what has no list', async () => {
    const { read } = await aVisitor()
    expect((await read('console/csv/agents?status=green')).status).toBe(400)
    expect((await read('console/csv/nothing')).status).toBe(404)
  })
})
