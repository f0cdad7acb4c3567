import './data-protection/registry.ts'
import './data-protection/consent.ts'
import './data-protection/exports.ts'
import './data-protection/zip.ts'
