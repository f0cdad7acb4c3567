import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { bundleWorkflows } from '../app/workflow-bundle.ts'

/**
 * Bundles the workflows for workers when an image is built: `node src/bin/bundle.ts dist/workflows.js`. Lists the files in the
 * bundle if a second file is named.
 */
const [, , file = 'dist/workflows.js', list] = process.argv
const { code, files } = await bundleWorkflows()
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, code)
if (list) writeFileSync(list, JSON.stringify(files))
