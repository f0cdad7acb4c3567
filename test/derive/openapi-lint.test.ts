import { expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { openapiDocument } from '../../src/derive/openapi.ts'
import { lintOpenapi } from '../support/lint-openapi.ts'

const document = openapiDocument(areas)

test('two linters find nothing wrong', async () => {
  expect(await lintOpenapi(JSON.stringify(document))).toEqual([])
}, 60_000)

test('both linters do look', async () => {
  const { '/health': health } = document.paths
  const faults = await lintOpenapi(JSON.stringify({ ...document, paths: { '/a': health, '/b': health } }))
  expect(faults.filter(fault => fault.startsWith('redocly'))).not.toEqual([])
  expect(faults.filter(fault => fault.startsWith('spectral'))).not.toEqual([])
})
