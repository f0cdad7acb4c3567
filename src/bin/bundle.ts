import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { bundleWorkflows } from '../app/workflow-bundle.ts'

/** Bundles the workflows for workers when an image is built: `node src/bin/bundle.ts dist/workflows.js`. */
const [, , file = 'dist/workflows.js'] = process.argv
const { code } = await bundleWorkflows()
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, code)
