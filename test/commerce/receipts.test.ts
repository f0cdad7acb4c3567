import './receipts/kept.ts'
import './receipts/matching.ts'
import './receipts/hostile-files.ts'
import './receipts/texts.ts'
