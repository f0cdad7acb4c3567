import './mpp/protect-rules.ts'
